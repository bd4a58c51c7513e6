// Forces as bars between centres, as wide as they are strong: cylinders in 3D, flat bars in 2D. Between grains of other
// shapes than disks and spheres they run through the contact point.

import {
  BufferAttribute, CapsuleGeometry, Color, CylinderGeometry, DynamicDrawUsage, GLSL3, InstancedBufferAttribute, InstancedBufferGeometry,
  Mesh, ShaderMaterial,
} from "three";
import { nearest } from "./cell.js";

const VERTEX = `
in vec3 start, end; in float width, tone;
uniform float flatness;
flat out float shade; out vec3 facing; out vec2 aside;
void main() {
  vec3 way = end - start;
  vec3 axis = length(way) > 0.0 ? normalize(way) : vec3(1.0, 0.0, 0.0);
  vec3 right, up;
  if (flatness > 0.5) { right = vec3(-axis.y, axis.x, 0.0); up = vec3(0.0, 0.0, 1.0); }
  else { right = normalize(cross(axis, abs(axis.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0))); up = cross(right, axis); }
  float along = clamp(position.y, -0.5, 0.5), beyond = position.y - along;  // beyond: on a round end
  vec3 out_of = right * position.x + up * position.z + axis * beyond;
  shade = tone; aside = vec2(position.x, beyond);
  facing = normalMatrix * out_of;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(start + (along + 0.5) * way + 0.5 * width * out_of, 1.0);
}`;

const FRAGMENT = `
precision highp float;
flat in float shade; in vec3 facing; in vec2 aside;
uniform vec3 sticking, sliding; uniform float flatness;
out vec4 colour;
void main() {
  vec3 base = mix(sticking, sliding, shade);
  float lit = flatness > 0.5 ? 1.0 : 0.6 + 0.45 * max(dot(normalize(facing), normalize(vec3(-0.35, 0.65, 0.675))), 0.0);
  float pixel = fwidth(aside.x);
  float cover = flatness > 0.5 ? clamp((1.0 - length(aside)) / pixel + 0.5, 0.0, 1.0) : 1.0;
  colour = vec4(base * lit, 0.92 * cover);
}`;

export class Bars {
  constructor(dimension) {
    this.flat = dimension === 2;
    this.uniforms = {
      sticking: { value: new Color() }, sliding: { value: new Color() }, flatness: { value: this.flat ? 1 : 0 },
    };
    const material = new ShaderMaterial({
      glslVersion: GLSL3, uniforms: this.uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT,
      transparent: this.flat, depthTest: !this.flat, depthWrite: !this.flat, side: this.flat ? 2 : 0,
    });
    this.mesh = new Mesh(new InstancedBufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    this.room = -1;
  }

  // Draw the contacts with a force above the threshold (N); `strong` (N) is as wide as `widest` (m).
  show(frame, threshold, strong, widest) {
    const { contacts, position } = frame;
    const room = contacts.count * (frame.cell || contacts.bent ? 2 : 1); // a bar through a face or a point has two halves
    if (room > this.room || Boolean(contacts.bent) !== this.bent) this.make(Math.ceil(room * 1.2) + 16, Boolean(contacts.bent));
    const towards = frame.cell ? nearest(frame.cell) : (way) => ({ way, through: false });
    const { start, end, width, tone } = this.mesh.geometry.attributes;
    let drawn = 0, told = 0;
    for (let c = 0; c < contacts.count; c++) {
      if (contacts.force[c] < threshold) continue;
      const a = 3 * contacts.a[c], b = 3 * contacts.b[c], wall = contacts.b[c] >= contacts.grains;
      const known = wall ? contacts.way.subarray(3 * c, 3 * c + 3) : [0, 1, 2].map((x) => position[b + x] - position[a + x]);
      const { way, through } = wall ? { way: known, through: false } : towards(known);
      const thick = widest * Math.min(contacts.force[c] / strong, 1.3);
      told++;
      const halves = !wall && contacts.bent ? this.legs(contacts, c, a, b, way)
        : through ? [[a, way.map((x) => 0.5 * x)], [b, way.map((x) => -0.5 * x)]] : [[a, wall && contacts.bent ? within(way, thick) : way]];
      for (const [from, leg] of halves) {
        for (let x = 0; x < 3; x++) {
          start.array[3 * drawn + x] = position[from + x];
          end.array[3 * drawn + x] = position[from + x] + leg[x];
        }
        width.array[drawn] = thick;
        tone.array[drawn++] = contacts.status[c] === 2 ? 1 : 0;
      }
    }
    for (const attribute of [start, end, width, tone]) attribute.needsUpdate = true;
    this.mesh.geometry.instanceCount = drawn;
    return told;
  }

  // From both centres to the contact point; way: from one centre to the other.
  legs(contacts, c, a, b, way) {
    const point = [0, 1, 2].map((x) => contacts.way[3 * c + x]);
    return [[a, point], [b, point.map((p, x) => p - way[x])]];
  }

  // bent: ends are round, so that there are no gaps where bars bend
  make(room, bent) {
    this.bent = bent;
    this.mesh.geometry.dispose();
    const geometry = (this.mesh.geometry = new InstancedBufferGeometry());
    const shape = this.flat ? null : bent ? new CapsuleGeometry(1, 1, 4, 10) : new CylinderGeometry(1, 1, 1, 10, 1, true);
    const levels = bent ? [-1.5, -0.5, 0.5, 1.5] : [-0.5, 0.5];
    const corners = new Float32Array(levels.flatMap((y) => [-1, y, 0, 1, y, 0]));
    const quads = levels.slice(1).flatMap((_, k) => [0, 1, 3, 0, 3, 2].map((v) => v + 2 * k));
    geometry.setAttribute("position", this.flat ? new BufferAttribute(corners, 3) : shape.attributes.position);
    geometry.setIndex(this.flat ? quads : shape.index);
    for (const [name, size] of Object.entries({ start: 3, end: 3, width: 1, tone: 1 })) {
      const attribute = new InstancedBufferAttribute(new Float32Array(size * room), size);
      geometry.setAttribute(name, attribute.setUsage(DynamicDrawUsage));
    }
    this.room = room;
  }
}

// A way that is shorter by its round end, which must not stand out of a wall.
function within(way, thick) {
  const share = Math.max(0, 1 - (0.5 * thick) / (Math.hypot(...way) || 1));
  return [...way].map((x) => share * x);
}
