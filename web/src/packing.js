// All grains: disks or spheres, and one set of instances for each other shape.

import { Group } from "three";
import { ghosts } from "./cell.js";
import { Grains } from "./grains.js";
import { ShapeGrains } from "./shapes.js";

export class Packing {
  // shapes: of the head of the page; none where all grains are round
  constructor(dimension, shapes) {
    this.flat = dimension === 2;
    this.balls = new Grains(dimension);
    this.uniforms = this.balls.uniforms; // shared with the other shapes, all but `chosen`
    this.kinds = (shapes || []).map((shape) => (shape.round ? this.balls : new ShapeGrains(shape, dimension, this.uniforms)));
    this.group = new Group();
    for (const { mesh } of this.sets()) this.group.add(mesh);
  }

  sets() {
    return new Set([this.balls, ...this.kinds]);
  }

  load() {
    return Promise.all(this.kinds.filter((kind) => kind !== this.balls).map((kind) => kind.load()));
  }

  show(frame, tones) {
    if (!this.kinds.length) return this.balls.show(frame, tones);
    const { rows, places } = ghosts(frame);
    this.rows = new Map([...this.sets()].map((kind) => [kind, []]));
    for (let i = 0; i < frame.n; i++) this.rows.get(this.kinds[frame.shape[i]]).push(i);
    for (const [kind, own] of this.rows) {
      const images = rows.map((_, k) => k).filter((k) => this.kinds[frame.shape[rows[k]]] === kind);
      kind.showSome(...columnsOf(frame, tones, own, images.map((k) => rows[k]), images.map((k) => places[k]), this.flat));
    }
    return null;
  }

  // index: row of the grain that was picked, or -1
  choose(index) {
    if (!this.kinds.length) this.uniforms.chosen.value = index;
    else for (const [kind, own] of this.rows) kind.uniforms.chosen.value = own.indexOf(index);
  }

  paint(table) {
    this.balls.paint(table);
  }

  // How far along a ray it meets grain i; only of grains whose bounding sphere it meets.
  meets(frame, i, start, way, size, sphere) {
    const kind = frame.shape ? this.kinds[frame.shape[i]] : this.balls;
    return kind === this.balls ? sphere : kind.meets(frame, i, start, way, size);
  }
}

function columnsOf(frame, tones, own, images, places, flat) {
  const all = [...own, ...images], at = (values) => Float32Array.from(all, (i) => values[i]);
  const centre = new Float32Array(3 * all.length);
  own.forEach((i, k) => centre.set(frame.position.subarray(3 * i, 3 * i + 3), 3 * k));
  places.forEach((place, k) => centre.set(place, 3 * (own.length + k)));
  const columns = { centre, radius: at(frame.radius), value: at(tones) };
  if (flat) return [all.length, { ...columns, turn: at(frame.turn), pale: Float32Array.from(all, (_, k) => (k < own.length ? 0 : 1)) }];
  const quaternion = new Float32Array(4 * all.length);
  own.forEach((i, k) => quaternion.set(frame.quaternion.subarray(4 * i, 4 * i + 4), 4 * k));
  return [all.length, { ...columns, quaternion }];
}
