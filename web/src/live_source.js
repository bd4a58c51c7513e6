// Frames that come over a websocket: from a run while it goes on, or from a file that a run is writing.

import { intoCell } from "./cell.js";
import { reaches } from "./decoder.js";
import { unpack } from "./packet.js";

const ROOM = 3e8; // bytes of frames that are kept to look back at

export class LiveSource {
  constructor(head) {
    this.head = head;
    this.live = true;
    this.controls = head.live === "run"; // a run can be paused and stopped, a file cannot
    this.times = [];
    this.frames = [];
    this.waiting = new Map();
    this.series = Object.fromEntries(head.columns.map((name) => [name, []]));
    this.state = "connecting";
    this.dropped = 0; // oldest frames that were let go
  }

  get count() {
    return this.times.length;
  }

  // onGrow: more frames or rows; onState: running, paused, ended, lost
  connect(onGrow, onState) {
    this.onGrow = onGrow;
    this.onState = onState;
    const address = new URL("feed", location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.say({ ready: true });
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.hear(JSON.parse(data)) : this.take(new Uint8Array(data)));
    this.socket.onclose = () => this.change(this.state === "ended" ? "ended" : "lost");
  }

  say(words) {
    if (this.socket && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }

  hear(words) {
    if (words.again) for (const name of this.head.columns) this.series[name] = [];
    if (words.rows) for (const row of words.rows) row.forEach((value, k) => this.series[this.head.columns[k]].push(value));
    if (words.series) this.series = words.series;
    if (words.times && words.times.length < this.times.length) this.frames = []; // the file was written anew
    if (words.times) this.times = words.times;
    if (words.rows || words.times || words.series) this.onGrow();
    if (words.state) this.change(words.state);
  }

  change(state) {
    this.state = state;
    this.onState(state);
  }

  take(bytes) {
    const frame = liveFrame(bytes, this.head.dimension, this.head.shapes);
    if (this.controls) {
      this.times.push(frame.time);
      this.frames.push(frame);
      if (this.frames.length * frame.n * 100 > ROOM) {
        this.times.shift();
        this.frames.shift();
        this.dropped++;
      }
      this.onGrow();
      requestAnimationFrame(() => this.say({ ready: true }));
    } else {
      this.frames[frame.index] = frame;
      const done = this.waiting.get(frame.index);
      this.waiting.delete(frame.index);
      if (done) done.forEach((call) => call(frame));
    }
  }

  frame(index) {
    if (this.frames[index]) return Promise.resolve(this.frames[index]);
    return new Promise((done) => {
      if (this.waiting.has(index)) return this.waiting.get(index).push(done);
      this.waiting.set(index, [done]);
      this.say({ frame: index });
      return null;
    });
  }
}

function liveFrame(bytes, dimension, shapes) {
  const { head, channels } = unpack(bytes);
  const take = (name) => channels[name].data;
  const frame = { time: head.time, step: head.step, index: head.index, walls: head.walls, cell: head.cell || null, origin: head.origin, dimension };
  for (const name of ["position", "velocity", "spin", "turn", "radius", "load"]) frame[name] = take(name);
  frame.n = frame.radius.length;
  frame.id = Int32Array.from(take("id"));
  frame.number = Int32Array.from(take("number"));
  frame.shape = channels.shape ? Int32Array.from(take("shape")) : null;
  frame.reach = reaches(frame.radius, frame.shape, shapes);
  if (channels.quaternion) frame.quaternion = rolled(take("quaternion"));
  for (const name of ["group", "material", "density"]) frame[name] = channels[name] ? take(name) : null;
  frame.scalars = {};
  for (const name of Object.keys(channels)) if (name.startsWith("scalar ")) frame.scalars[name.slice(7)] = take(name);
  frame.contacts = null;
  if (channels.first) {
    frame.contacts = {
      count: take("first").length, grains: frame.n, a: Int32Array.from(take("first")), b: Int32Array.from(take("second")),
      force: take("force"), status: Int32Array.from(take("status")), way: take("way"), bent: Boolean(channels.shape),
    };
  }
  return intoCell(frame);
}

// Quaternions (w, x, y, z) as (x, y, z, w).
function rolled(rows) {
  const turned = new Float32Array(rows.length);
  for (let i = 0; i < rows.length; i += 4) turned.set([rows[i + 1], rows[i + 2], rows[i + 3], rows[i]], i);
  return turned;
}
