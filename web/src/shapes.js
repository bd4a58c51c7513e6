// Grains of one shape, all instances of one geometry: a mesh in 3D; in 2D a quad on which the fragment shader finds the
// distance from the outline, so that corners stay crisp however near one looks.

import {
  BufferAttribute, DataTexture, DynamicDrawUsage, FloatType, GLSL3, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, NearestFilter,
  RGBAFormat, ShaderMaterial,
} from "three";
import { inflate } from "./inflate.js";
import { restore, unpack } from "./packet.js";

const SOLID_VERTEX = `
in vec3 centre; in float radius; in float value; in vec4 quaternion;
uniform float size;
flat out float tone; flat out int number; out vec3 facing, place;
vec3 turned(vec3 v) { return v + 2.0 * cross(quaternion.xyz, cross(quaternion.xyz, v) + quaternion.w * v); }
void main() {
  tone = value; number = gl_InstanceID;
  vec4 seen = modelViewMatrix * vec4(centre + turned(position) * radius * size, 1.0);
  facing = mat3(modelViewMatrix) * turned(normal);
  place = seen.xyz;
  gl_Position = projectionMatrix * seen;
}`;

const SOLID_FRAGMENT = `
precision highp float;
flat in float tone; flat in int number; in vec3 facing, place;
uniform sampler2D map; uniform vec3 none, accent; uniform float perspective, size; uniform int chosen;
out vec4 colour;
void main() {
  vec3 way = perspective > 0.5 ? normalize(place) : vec3(0.0, 0.0, -1.0), normal = normalize(facing);
  vec3 base = tone < 0.0 ? none : texture(map, vec2(tone, 0.5)).rgb;
  base = mix(none, base, size < 1.0 ? 0.6 : 1.0);
  if (number == chosen) base = accent;
  vec3 light = normalize(vec3(-0.35, 0.65, 0.675));
  float shine = max(dot(normal, light), 0.0), front = max(-dot(normal, way), 0.0);
  float lit = (0.42 + 0.58 * shine) * (0.55 + 0.45 * min(1.0, 1.8 * front));
  float gloss = pow(max(dot(reflect(way, normal), light), 0.0), 28.0);
  colour = vec4(base * lit * 1.06 + 0.14 * gloss, 1.0);
}`;

const FLAT_VERTEX = `
in vec3 centre; in float radius; in float value; in float turn; in float pale;
uniform float size, bound;
flat out float tone, faint; flat out int number; out vec2 spot;
void main() {
  tone = value; faint = pale; number = gl_InstanceID;
  spot = position.xy * bound;
  vec2 there = vec2(cos(turn) * spot.x - sin(turn) * spot.y, sin(turn) * spot.x + cos(turn) * spot.y);
  gl_Position = projectionMatrix * modelViewMatrix * vec4(centre + vec3(there * radius * size, 0.0), 1.0);
}`;

// Each texel of the outline is a vertex: x, y, rounding, and at the first of a part how many it has.
const FLAT_FRAGMENT = `
precision highp float;
flat in float tone, faint; flat in int number; in vec2 spot;
uniform sampler2D map, outline; uniform vec3 none, accent; uniform float opacity; uniform int chosen, corners;
out vec4 colour;
float away(vec2 p) {
  float best = 1e9;
  for (int k = 0; k < corners;) {
    vec4 first = texelFetch(outline, ivec2(k, 0), 0);
    int count = int(first.w + 0.5);
    vec2 last = texelFetch(outline, ivec2(k + count - 1, 0), 0).xy, to = p - first.xy;
    float square = dot(to, to); bool inside = count > 2;
    for (int j = 0; j < count && count > 1; j++) {
      vec2 next = texelFetch(outline, ivec2(k + j, 0), 0).xy, side = next - last;
      to = p - last;
      vec2 rest = to - side * clamp(dot(to, side) / dot(side, side), 0.0, 1.0);
      square = min(square, dot(rest, rest));
      inside = inside && side.x * to.y - side.y * to.x >= 0.0;
      last = next;
    }
    best = min(best, (inside ? -1.0 : 1.0) * sqrt(square) - first.z);
    k += count;
  }
  return best;
}
void main() {
  float far = away(spot), pixel = length(vec2(dFdx(spot.x), dFdy(spot.x)));
  float cover = clamp(0.5 - far / pixel, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 base = tone < 0.0 ? none : texture(map, vec2(tone, 0.5)).rgb;
  float mark = spot.x > 0.28 && far < -0.12 ? clamp((0.075 - abs(spot.y)) / pixel + 0.5, 0.0, 1.0) : 0.0;
  mark *= clamp((0.16 - pixel) / 0.08, 0.0, 1.0);  // too small to be seen
  float rim = clamp((far + 0.07) / pixel + 0.5, 0.0, 1.0) * clamp((0.25 - pixel) / 0.15, 0.0, 1.0);
  base *= 1.0 - 0.5 * mark - 0.3 * rim;
  base = mix(none, base, 0.5 + 0.5 * opacity);
  float shown = opacity * (1.0 - 0.65 * faint);
  if (number == chosen) {
    float ring = clamp((far + 0.2) / pixel + 0.5, 0.0, 1.0);
    base = mix(base, accent, max(ring, pixel > 0.3 ? 1.0 : 0.0)); shown = 1.0;
  }
  colour = vec4(base, cover * shown);
}`;

export class ShapeGrains {
  // shape: as view/page/shape_words.py tells of it; shared: uniforms that all grains have in common
  constructor(shape, dimension, shared) {
    this.shape = shape;
    this.flat = dimension === 2;
    this.uniforms = { ...shared, chosen: { value: -1 } };
    if (this.flat) Object.assign(this.uniforms, outlineOf(shape));
    const material = new ShaderMaterial({
      glslVersion: GLSL3, uniforms: this.uniforms,
      vertexShader: this.flat ? FLAT_VERTEX : SOLID_VERTEX, fragmentShader: this.flat ? FLAT_FRAGMENT : SOLID_FRAGMENT,
      transparent: this.flat, depthTest: !this.flat, depthWrite: !this.flat,
    });
    this.mesh = new Mesh(new InstancedBufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.room = -1;
    const edge = 1.02;
    this.model = { points: new Float32Array([-edge, -edge, 0, edge, -edge, 0, edge, edge, 0, -edge, edge, 0]), triangles: [0, 1, 2, 0, 2, 3] };
    if (!this.flat) this.model = null;
  }

  // Meshes are packed: resolves when this one can be drawn.
  async load() {
    if (this.model) return;
    const { channels } = unpack(await inflate(this.shape.mesh));
    this.model = { points: channels.points.data, normals: channels.normals.data, triangles: restore(channels.triangles) };
  }

  // columns: arrays by the name of an attribute, for `count` grains
  showSome(count, columns) {
    if (count > this.room || count < this.room / 4) this.make(Math.ceil(1.1 * count) + 1);
    for (const [name, values] of Object.entries(columns)) {
      const attribute = this.mesh.geometry.attributes[name];
      attribute.array.set(values);
      attribute.needsUpdate = true;
    }
    this.mesh.geometry.instanceCount = count;
  }

  make(room) {
    this.mesh.geometry.dispose();
    const geometry = (this.mesh.geometry = new InstancedBufferGeometry());
    geometry.setAttribute("position", new BufferAttribute(this.model.points, 3));
    if (this.model.normals) geometry.setAttribute("normal", new BufferAttribute(this.model.normals, 3));
    geometry.setIndex([...this.model.triangles]);
    for (const [name, size] of Object.entries({ centre: 3, radius: 1, value: 1, ...(this.flat ? { turn: 1, pale: 1 } : { quaternion: 4 }) })) {
      const attribute = new InstancedBufferAttribute(new Float32Array(size * room), size);
      geometry.setAttribute(name, attribute.setUsage(DynamicDrawUsage));
    }
    this.room = room;
  }

  // How far along a ray it meets grain i of a frame; Infinity where it does not. start, way: arrays [x, y, z]
  meets(frame, i, start, way, size) {
    const scale = 1 / (frame.radius[i] * size), centre = [0, 1, 2].map((x) => frame.position[3 * i + x]);
    const from = start.map((s, x) => (s - centre[x]) * scale);
    if (this.flat) {
      const c = Math.cos(frame.turn[i]), s = Math.sin(frame.turn[i]);
      return distance(this.shape.parts, c * from[0] + s * from[1], c * from[1] - s * from[0]) <= 0 ? start[2] - centre[2] : Infinity;
    }
    const back = (v) => turnedBack(frame.quaternion.subarray(4 * i, 4 * i + 4), v), { points, triangles } = this.model;
    const origin = back(from), ray = back(way);
    let best = Infinity;
    for (let t = 0; t < triangles.length; t += 3) best = Math.min(best, hit(origin, ray, points, triangles, t));
    return best / scale;
  }
}

function outlineOf({ parts, bound }) {
  const count = parts.reduce((sum, part) => sum + part.vertices.length, 0), texels = new Float32Array(4 * count);
  let at = 0;
  for (const { vertices, rounding } of parts) {
    vertices.forEach(([x, y], k) => texels.set([x, y, rounding, k ? 0 : vertices.length], 4 * at++));
  }
  const outline = new DataTexture(texels, count, 1, RGBAFormat, FloatType);
  outline.minFilter = outline.magFilter = NearestFilter;
  outline.needsUpdate = true;
  return { outline: { value: outline }, corners: { value: count }, bound: { value: bound } };
}

// The same as the shader's `away`.
function distance(parts, x, y) {
  let best = Infinity;
  for (const { vertices, rounding } of parts) {
    let inside = vertices.length > 2, square = (x - vertices[0][0]) ** 2 + (y - vertices[0][1]) ** 2;
    vertices.forEach(([u, v], k) => {
      const [p, q] = vertices[(k || vertices.length) - 1], a = u - p, b = v - q, long = a * a + b * b;
      if (!long) return;
      const t = Math.min(Math.max(((x - p) * a + (y - q) * b) / long, 0), 1);
      square = Math.min(square, (x - p - t * a) ** 2 + (y - q - t * b) ** 2);
      inside = inside && a * (y - q) - b * (x - p) >= 0;
    });
    best = Math.min(best, (inside ? -1 : 1) * Math.sqrt(square) - rounding);
  }
  return best;
}

function turnedBack([x, y, z, w], [a, b, c]) {
  const u = -(y * c - z * b) + w * a, v = -(z * a - x * c) + w * b, t = -(x * b - y * a) + w * c;
  return [a - 2 * (y * t - z * v), b - 2 * (z * u - x * t), c - 2 * (x * v - y * u)];
}

// Moeller and Trumbore's test of a ray against a triangle.
function hit(origin, way, points, triangles, t) {
  const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]);
  const e = [0, 1, 2].map((x) => points[b + x] - points[a + x]), f = [0, 1, 2].map((x) => points[c + x] - points[a + x]);
  const p = [way[1] * f[2] - way[2] * f[1], way[2] * f[0] - way[0] * f[2], way[0] * f[1] - way[1] * f[0]];
  const det = e[0] * p[0] + e[1] * p[1] + e[2] * p[2];
  if (Math.abs(det) < 1e-12) return Infinity;
  const s = [0, 1, 2].map((x) => origin[x] - points[a + x]), u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
  const q = [s[1] * e[2] - s[2] * e[1], s[2] * e[0] - s[0] * e[2], s[0] * e[1] - s[1] * e[0]];
  const v = (way[0] * q[0] + way[1] * q[1] + way[2] * q[2]) / det;
  return u < 0 || v < 0 || u + v > 1 ? Infinity : (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / det;
}
