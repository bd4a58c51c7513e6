// Which frame is in view: slider, play and pause, speed.

const SPEEDS = [2, 5, 10, 25, 50]; // frames per second

export class Player {
  // source: frames; show: called with a frame and its number
  constructor(source, show) {
    this.source = source;
    this.show = show;
    this.index = 0;
    this.playing = false;
    this.follow = source.live;
    this.busy = false;
    this.button = document.getElementById("play");
    this.slider = document.getElementById("time");
    this.speed = document.getElementById("speed");
    for (const rate of SPEEDS) this.speed.append(new Option(`${rate} frames/s`, rate));
    this.speed.value = source.count > 150 ? 25 : 10;
    this.button.onclick = () => this.toggle();
    this.slider.oninput = () => this.go(Number(this.slider.value));
    this.grown();
  }

  grown() {
    this.slider.max = Math.max(this.source.count - 1, 0);
    this.button.disabled = this.source.count < 2;
    if (this.follow && this.source.count) this.go(this.source.count - 1, true);
    else this.tell();
  }

  // Show a frame; while one is being read, only the newest wish is remembered.
  async go(index, following = false) {
    index = Math.min(Math.max(index, 0), this.source.count - 1);
    this.follow = this.source.live && (following || index === this.source.count - 1);
    this.wish = index;
    if (this.busy) return this.busy;
    this.busy = this.serve();
    await this.busy;
    return null;
  }

  async serve() {
    try {
      while (this.wish !== undefined) {
        const index = this.wish;
        this.wish = undefined;
        const frame = await this.source.frame(index);
        if (!frame) continue;
        this.index = index;
        this.frame = frame;
        this.show(frame, index);
        this.tell();
      }
    } finally {
      this.busy = null;
    }
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing) {
      if (this.index >= this.source.count - 1) this.go(0);
      this.follow = false;
      this.last = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
    this.tell();
  }

  tick(now) {
    if (!this.playing) return;
    const due = 1000 / Number(this.speed.value);
    if (now - this.last >= due && !this.busy) {
      this.last = Math.max(this.last + due, now - due);
      if (this.index >= this.source.count - 1) {
        this.playing = false;
        this.tell();
        return;
      }
      this.go(this.index + 1);
    }
    requestAnimationFrame((later) => this.tick(later));
  }

  tell() {
    this.slider.value = this.index;
    this.button.dataset.state = this.playing ? "playing" : "paused";
    this.button.setAttribute("aria-label", this.playing ? "pause" : "play");
    document.getElementById("count").textContent = this.source.count ? `${this.index + 1} / ${this.source.count}` : "";
  }
}
