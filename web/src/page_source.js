// Frames that stand in the page itself; each is decoded when it is asked for.

import { Decoder, readStatic } from "./decoder.js";
import { inflate } from "./inflate.js";

const ROOM = 4e8; // bytes of decoded frames that are kept

export class PageSource {
  constructor(head) {
    this.head = head;
    this.times = head.times;
    this.series = head.series;
    this.live = false;
    this.decoder = new Decoder(head.scales, head.dimension, head.shapes, head.species);
    this.at = -1; // the frame that the decoder has just read
    this.statics = [];
    this.kept = new Map();
    this.queue = Promise.resolve();
  }

  get count() {
    return this.times.length;
  }

  frame(index) {
    if (this.kept.has(index)) return Promise.resolve(this.kept.get(index));
    this.queue = this.queue.catch(() => null).then(() => this.read(index));
    return this.queue;
  }

  async read(index) {
    if (this.kept.has(index)) return this.kept.get(index);
    const key = index - (index % this.head.group);
    let next = this.at >= key && this.at < index ? this.at + 1 : key;
    let frame = null;
    for (; next <= index; next++) {
      frame = await this.decode(next);
      this.keep(next, frame);
    }
    return frame;
  }

  async decode(index) {
    const bytes = await inflate(await textOf(`frame${index}`));
    for (let k = this.statics.length; document.getElementById(`static${k}`); k++) {
      this.statics.push(readStatic(await inflate(await textOf(`static${k}`))));
    }
    const frame = this.decoder.decode(bytes, this.statics);
    this.at = index;
    return frame;
  }

  keep(index, frame) {
    const size = frame.n * 60 + (frame.contacts ? frame.contacts.count * 50 : 0);
    if (this.kept.size * size > ROOM) this.kept.delete(this.kept.keys().next().value);
    this.kept.set(index, frame);
  }
}

// A large page is still being read when its first frames are asked for.
function textOf(name) {
  return new Promise((done, fail) => {
    const look = () => {
      const element = document.getElementById(name);
      const whole = element && (element.nextSibling || document.readyState !== "loading");
      if (whole) done(element.textContent);
      else if (document.readyState !== "loading") fail(new Error(`the page has no ${name}: it was cut short`));
      else setTimeout(look, 30);
    };
    look();
  });
}
