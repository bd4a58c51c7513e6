// Whole numbers back to a frame: positions (m), velocities (m/s), forces (N). Mirrors view/page/frames.py.

import { intoCell } from "./cell.js";
import { restore, unpack } from "./packet.js";

const AXES = ["x", "y", "z"];
const OFFSET = 127, LEVELS = 4095;

export class Decoder {
  constructor(scales, dimension, shapes = null, species = null) {
    this.scales = scales;
    this.scalars = (species || []).filter(({ scalar }) => scalar);
    this.shapes = shapes;
    this.dimension = dimension;
    this.forget();
  }

  forget() {
    this.before = {};
    this.contacts = null;
    this.walls = [];
    this.cell = null;
    this.velocity = null;
    this.time = 0;
  }

  // bytes: a packet; statics: radius, id and shape by number
  decode(bytes, statics) {
    const { head, channels } = unpack(bytes);
    if (head.key) this.forget();
    if (head.walls) this.walls = head.walls;
    if (head.cell) this.cell = head.cell;
    const { radius, id, shape, ...species } = statics[head.static];
    const n = radius.length, { levels, strengths, turns } = this.scales;
    const frame = { time: head.time, step: head.step, n, radius, id, walls: this.walls, cell: this.cell, dimension: this.dimension, origin: this.scales.origin };
    Object.assign(frame, species, { shape: shape || null, reach: reaches(radius, shape, this.shapes) });
    if (channels.qw) this.quaternions(channels, frame);
    else frame.turn = Float32Array.from(this.take(channels, "turn"), (q) => (q * 2 * Math.PI) / turns);
    const velocity = ["vx", "vy", "vz"].map((name) => this.expanded(channels, name, head.velocity, levels, n));
    const spin = ["wx", "wy", "wz"].map((name) => this.expanded(channels, name, head.spin, levels, n));
    frame.position = this.positions(channels, head, velocity, n);
    frame.velocity = woven(velocity, n);
    frame.spin = woven(spin, n);
    frame.load = Float32Array.from(this.expanded(channels, "load", head.load, strengths, n));
    frame.number = this.take(channels, "number");
    frame.scalars = {};
    this.scalars.forEach(({ name, range: [low, high] = [0, 0] }, k) => {
      const levels = this.take(channels, `scalar${k}`);
      frame.scalars[name] = Float32Array.from(levels, (level) => (level < 0 ? NaN : low + (level / LEVELS) * (high - low)));
    });
    frame.contacts = channels.stays ? this.pairs(channels, head, n, radius) : null;
    this.velocity = velocity;
    this.time = head.time;
    return intoCell(frame);
  }

  // Of solids: unit quaternions (x, y, z, w), and the angle turned.
  quaternions(channels, frame) {
    const parts = ["qx", "qy", "qz", "qw"].map((name) => this.take(channels, name)), { n } = frame;
    frame.quaternion = new Float32Array(4 * n);
    frame.turn = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      const [x, y, z, w] = parts.map((part) => part[i]), length = Math.hypot(x, y, z, w) || 1;
      frame.quaternion.set([x / length, y / length, z / length, w / length], 4 * i);
      frame.turn[i] = 2 * Math.atan2(Math.hypot(x, y, z), w);
    }
  }

  take(channels, name, k = 0, guess = null) {
    const before = this.before[name] || [];
    const whole = restore(channels[name], before.map(([old, oldK]) => shifted(old, oldK - k)), guess);
    this.before[name] = [[whole, k], ...before.slice(0, 1)];
    return whole;
  }

  expanded(channels, name, k, levels, n) {
    if (!channels[name]) return new Float64Array(n);
    return expand(this.take(channels, name, k), k, levels);
  }

  positions(channels, head, velocity, n) {
    const { step } = this.scales, position = new Float32Array(3 * n);
    const lapse = (head.time - this.time) / step, half = 0.5 * lapse, far = 2 ** 28;
    for (let axis = 0; axis < this.dimension; axis++) {
      const name = AXES[axis], last = this.velocity && this.velocity[axis], now = velocity[axis];
      const guess = (which) => { // with the mean of both velocities, or with the new one
        const before = this.before[name][0][0], places = new Int32Array(n);
        for (let i = 0; i < n; i++) {
          const way = which ? now[i] * lapse : (now[i] + last[i]) * half;
          places[i] = before[i] + Math.floor(Math.min(Math.max(way, -far), far) + 0.5);
        }
        return places;
      };
      const cells = this.take(channels, name, 0, guess);
      for (let i = 0; i < n; i++) position[3 * i + axis] = cells[i] * step;
    }
    return position;
  }

  // Contacts that carry a force: those of the last frame that stay, merged with new ones in the order of their keys.
  pairs(channels, head, n, radius) {
    const old = this.contacts, base = head.base, points = head.points || 1;
    const stays = restore(channels.stays), first = restore(channels.first), second = restore(channels.second);
    const nth = channels.nth ? restore(channels.nth) : new Int32Array(first.length);
    let count = first.length;
    for (let i = 0; i < stays.length; i++) count += stays[i];
    const now = { count, a: new Int32Array(count), b: new Int32Array(count), nth: new Int32Array(count), bent: points > 1, k: head.force };
    const from = new Int32Array(count).fill(-1);
    for (let c = 0, o = 0, f = 0; c < count; c++) {
      while (o < stays.length && !stays[o]) o++;
      const kept = o < stays.length ? (old.a[o] * base + old.b[o]) * points + old.nth[o] : Infinity;
      const fresh = f < first.length ? (first[f] * base + first[f] + second[f]) * points + nth[f] : Infinity;
      if (kept < fresh) {
        now.a[c] = old.a[o]; now.b[c] = old.b[o]; now.nth[c] = old.nth[o]; from[c] = o++;
      } else {
        now.a[c] = first[f]; now.b[c] = first[f] + second[f]; now.nth[c] = nth[f]; f++;
      }
    }
    const raise = old ? old.k - head.force : 0;
    now.whole = aligned(restore(channels.force), from, old && shifted(old.whole, raise));
    now.status = aligned(restore(channels.status), from, old && old.status);
    now.offset = this.offsets(channels, now, from, old, n);
    now.force = Float32Array.from(expand(now.whole, head.force, this.scales.strengths));
    now.way = new Float32Array(3 * count);
    for (let c = 0; c < count; c++) {
      for (let x = 0; x < 3; x++) now.way[3 * c + x] = (now.offset[x][c] / OFFSET) * radius[now.a[c]];
    }
    now.grains = n;
    this.contacts = now;
    return now;
  }

  offsets(channels, now, from, old, n) {
    return AXES.map((axis, x) => {
      const all = new Int32Array(now.count), channel = channels["o" + axis];
      if (!channel) return all;
      const told = restore(channel);
      for (let c = 0, t = 0; c < now.count; c++) {
        if (now.bent || now.b[c] >= n) all[c] = told[t++] + (from[c] < 0 ? 0 : old.offset[x][from[c]]);
      }
      return all;
    });
  }
}

export function readStatic(bytes) {
  const { channels } = unpack(bytes);
  const whole = (name) => (channels[name] ? restore(channels[name]) : null);
  const density = channels.density ? channels.density.data : null;
  return { radius: channels.radius.data, id: whole("id"), shape: whole("shape"), group: whole("group"), material: whole("material"), density };
}

// (n,) radius of the sphere that holds each grain
export function reaches(radius, shape, shapes) {
  return shape ? radius.map((r, i) => r * shapes[shape[i]].bound) : radius;
}

// Exactly as Python does it: no powers, whose last bit may differ.
function expand(whole, k, levels) {
  let unit = 1;
  for (let i = 0; i < Math.abs(k); i++) unit = k > 0 ? unit * 4 : unit / 4;
  const value = new Float64Array(whole.length);
  for (let i = 0; i < whole.length; i++) {
    const root = Math.abs(whole[i]) / levels;
    value[i] = (whole[i] < 0 ? -1 : 1) * (root * root * unit);
  }
  return value;
}

function shifted(whole, by) {
  if (by === 0) return whole;
  if (Math.abs(by) > 15) return new Int32Array(whole.length);
  return by > 0 ? whole.map((q) => q << by) : whole.map((q) => q >> -by);
}

function aligned(difference, from, old) {
  if (old) for (let c = 0; c < difference.length; c++) if (from[c] >= 0) difference[c] += old[from[c]];
  return difference;
}

function woven(components, n) {
  const rows = new Float32Array(3 * n);
  components.forEach((component, x) => {
    for (let i = 0; i < n; i++) rows[3 * i + x] = component[i];
  });
  return rows;
}
