// Whole numbers back to a frame: positions (m), velocities (m/s), forces (N). Mirrors view/page/frames.py.

import { intoCell } from "./cell.js";
import { restore, unpack } from "./packet.js";

const AXES = ["x", "y", "z"];
const OFFSET = 127;

export class Decoder {
  constructor(scales, dimension) {
    this.scales = scales;
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

  // bytes: a packet; statics: radius and id by number
  decode(bytes, statics) {
    const { head, channels } = unpack(bytes);
    if (head.key) this.forget();
    if (head.walls) this.walls = head.walls;
    if (head.cell) this.cell = head.cell;
    const { radius, id } = statics[head.static];
    const n = radius.length, { levels, strengths, turns } = this.scales;
    const frame = { time: head.time, step: head.step, n, radius, id, walls: this.walls, cell: this.cell, dimension: this.dimension, origin: this.scales.origin };
    const turn = this.take(channels, "turn");
    frame.turn = Float32Array.from(turn, (q) => (q * 2 * Math.PI) / turns);
    const velocity = ["vx", "vy", "vz"].map((name) => this.expanded(channels, name, head.velocity, levels, n));
    const spin = ["wx", "wy", "wz"].map((name) => this.expanded(channels, name, head.spin, levels, n));
    frame.position = this.positions(channels, head, velocity, n);
    frame.velocity = woven(velocity, n);
    frame.spin = woven(spin, n);
    frame.load = Float32Array.from(this.expanded(channels, "load", head.load, strengths, n));
    frame.number = this.take(channels, "number");
    frame.contacts = channels.stays ? this.pairs(channels, head, n, radius) : null;
    this.velocity = velocity;
    this.time = head.time;
    return intoCell(frame);
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
    const old = this.contacts, base = head.base;
    const stays = restore(channels.stays), first = restore(channels.first), second = restore(channels.second);
    let count = first.length;
    for (let i = 0; i < stays.length; i++) count += stays[i];
    const now = { count, a: new Int32Array(count), b: new Int32Array(count), k: head.force };
    const from = new Int32Array(count).fill(-1);
    for (let c = 0, o = 0, f = 0; c < count; c++) {
      while (o < stays.length && !stays[o]) o++;
      const kept = o < stays.length ? old.a[o] * base + old.b[o] : Infinity;
      const fresh = f < first.length ? first[f] * base + first[f] + second[f] : Infinity;
      if (kept < fresh) {
        now.a[c] = old.a[o]; now.b[c] = old.b[o]; from[c] = o++;
      } else {
        now.a[c] = first[f]; now.b[c] = first[f] + second[f]; f++;
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
        if (now.b[c] >= n) all[c] = told[t++] + (from[c] < 0 ? 0 : old.offset[x][from[c]]);
      }
      return all;
    });
  }
}

export function readStatic(bytes) {
  const { channels } = unpack(bytes);
  return { radius: channels.radius.data, id: restore(channels.id) };
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
