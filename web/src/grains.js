// Grains as impostors: one quad each; the fragment shader casts the ray and writes the true depth. Disks in 2D are flat.

import {
  AddEquation, CustomBlending, DataTexture, DynamicDrawUsage, GLSL3, InstancedBufferAttribute, InstancedBufferGeometry, BufferAttribute, Mesh,
  NearestFilter, OneFactor, RGBAFormat, ShaderMaterial, Color, ZeroFactor,
} from "three";
import { ghosts } from "./cell.js";

const CORNERS = new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]);

const SPHERE_VERTEX = `
in vec3 centre; in float radius; in float value;
uniform float size, perspective;
flat out vec3 middle; flat out float reach; flat out float tone; flat out int number;
out vec3 point;
void main() {
  middle = (modelViewMatrix * vec4(centre, 1.0)).xyz;
  reach = radius * size; tone = value; number = gl_InstanceID;
  vec3 right = vec3(1.0, 0.0, 0.0), up = vec3(0.0, 1.0, 0.0);
  float widen = 1.03;
  if (perspective > 0.5) {  // a sphere off the axis is seen as an ellipse: face the eye and widen to the tangent cone
    float far = length(middle);
    vec3 way = middle / far;
    right = normalize(cross(way, up)); up = cross(right, way);
    widen *= far / sqrt(max(far * far - reach * reach, 1e-4 * far * far));
  }
  point = middle + (position.x * right + position.y * up) * reach * widen;
  gl_Position = projectionMatrix * vec4(point, 1.0);
}`;

const SPHERE_FRAGMENT = `
precision highp float;
flat in vec3 middle; flat in float reach; flat in float tone; flat in int number;
in vec3 point;
uniform mat4 projectionMatrix; uniform sampler2D map; uniform vec3 none, accent;
uniform float perspective, size; uniform int chosen;
out vec4 colour;
void main() {
  vec3 way = perspective > 0.5 ? normalize(point) : vec3(0.0, 0.0, -1.0);
  vec3 start = perspective > 0.5 ? vec3(0.0) : vec3(point.xy, 0.0);
  float along = dot(way, middle - start);
  vec3 aside = start + along * way - middle;
  float left = reach * reach - dot(aside, aside);
  float edge = left / (2.0 * reach * reach);
  float cover = clamp(edge / max(fwidth(edge), 1e-6) + 0.5, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 hit = start + (along - sqrt(max(left, 0.0))) * way;
  vec3 normal = normalize(hit - middle);
  vec4 clip = projectionMatrix * vec4(hit, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  vec3 base = tone < 0.0 ? none : texture(map, vec2(tone, 0.5)).rgb;
  base = mix(none, base, size < 1.0 ? 0.6 : 1.0);
  if (number == chosen) base = accent;
  vec3 light = normalize(vec3(-0.35, 0.65, 0.675));
  float shine = max(dot(normal, light), 0.0), facing = max(-dot(normal, way), 0.0);
  float lit = (0.42 + 0.58 * shine) * (0.55 + 0.45 * min(1.0, 1.8 * facing));
  float gloss = pow(max(dot(reflect(way, normal), light), 0.0), 28.0);
  colour = vec4(base * lit * 1.06 + 0.14 * gloss, cover);
}`;

const DISK_VERTEX = `
in vec3 centre; in float radius; in float value; in float turn; in float pale;
uniform float size;
flat out float tone, angle, faint; flat out int number;
out vec2 spot;
void main() {
  tone = value; angle = turn; faint = pale; number = gl_InstanceID;
  spot = position.xy * 1.05;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(centre + vec3(spot * radius * size, 0.0), 1.0);
}`;

const DISK_FRAGMENT = `
precision highp float;
flat in float tone, angle, faint; flat in int number;
in vec2 spot;
uniform sampler2D map; uniform vec3 none, accent; uniform float opacity; uniform int chosen;
out vec4 colour;
void main() {
  float far = length(spot), pixel = fwidth(spot.x);
  float cover = clamp((1.0 - far) / pixel + 0.5, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 base = tone < 0.0 ? none : texture(map, vec2(tone, 0.5)).rgb;
  vec2 hand = vec2(cos(angle), sin(angle));
  float along = dot(spot, hand), aside = abs(spot.x * hand.y - spot.y * hand.x);
  float mark = along > 0.28 && along < 0.86 ? clamp((0.075 - aside) / pixel + 0.5, 0.0, 1.0) : 0.0;
  mark *= clamp((0.16 - pixel) / 0.08, 0.0, 1.0);  // too small to be seen
  float rim = clamp((far - 0.93) / pixel + 0.5, 0.0, 1.0) * clamp((0.25 - pixel) / 0.15, 0.0, 1.0);
  base *= 1.0 - 0.5 * mark - 0.3 * rim;
  base = mix(none, base, 0.5 + 0.5 * opacity);
  float shown = opacity * (1.0 - 0.65 * faint);  // images in a periodic cell are pale
  if (number == chosen) {
    float ring = clamp((far - 0.72) / pixel + 0.5, 0.0, 1.0);
    base = mix(base, accent, max(ring, pixel > 0.3 ? 1.0 : 0.0)); shown = 1.0;
  }
  colour = vec4(base, cover * shown);
}`;

export class Grains {
  constructor(dimension) {
    this.flat = dimension === 2;
    this.map = new DataTexture(new Uint8Array(1024), 256, 1, RGBAFormat);
    this.map.minFilter = this.map.magFilter = NearestFilter;
    this.uniforms = {
      map: { value: this.map }, none: { value: new Color() }, accent: { value: new Color() }, size: { value: 1 },
      perspective: { value: 1 }, opacity: { value: 1 }, chosen: { value: -1 },
    };
    const material = new ShaderMaterial({
      glslVersion: GLSL3, uniforms: this.uniforms,
      vertexShader: this.flat ? DISK_VERTEX : SPHERE_VERTEX,
      fragmentShader: this.flat ? DISK_FRAGMENT : SPHERE_FRAGMENT,
      transparent: this.flat, depthTest: !this.flat, depthWrite: !this.flat, alphaToCoverage: !this.flat,
    });
    // The smooth rim comes from multisampling; the canvas itself stays opaque.
    const rim = { blending: CustomBlending, blendEquation: AddEquation, blendSrc: OneFactor, blendDst: ZeroFactor, blendSrcAlpha: OneFactor, blendDstAlpha: OneFactor };
    if (!this.flat) Object.assign(material, rim);
    this.mesh = new Mesh(new InstancedBufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.room = -1; // of the geometry: also a frame without grains needs one
  }

  // frame: see decoder.js; tones: (n,) 0 to 1 in the colour map, negative for none
  show(frame, tones) {
    const { rows, places } = ghosts(frame), count = frame.n + rows.length;
    if (count > this.room || count < this.room / 4) this.make(Math.ceil(1.1 * count) + 1);
    const { centre, radius, value, turn, pale } = this.mesh.geometry.attributes;
    const images = (values) => Float32Array.from(rows, (i) => values[i]);
    fill(centre, frame.position, Float32Array.from(places.flat()));
    fill(radius, frame.radius, images(frame.radius));
    fill(value, tones, images(tones));
    if (this.flat) {
      fill(turn, frame.turn, images(frame.turn));
      fill(pale, new Float32Array(frame.n), new Float32Array(rows.length).fill(1));
    }
    this.mesh.geometry.instanceCount = count;
  }

  // The same of some grains: columns are arrays by the name of an attribute.
  showSome(count, columns) {
    if (count > this.room || count < this.room / 4) this.make(Math.ceil(1.1 * count) + 1);
    for (const [name, attribute] of Object.entries(this.mesh.geometry.attributes)) if (columns[name]) fill(attribute, columns[name], []);
    this.mesh.geometry.instanceCount = count;
  }

  make(n) {
    this.mesh.geometry.dispose();
    const geometry = (this.mesh.geometry = new InstancedBufferGeometry());
    geometry.setAttribute("position", new BufferAttribute(CORNERS, 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    const names = { centre: 3, radius: 1, value: 1, ...(this.flat ? { turn: 1, pale: 1 } : {}) };
    for (const [name, size] of Object.entries(names)) {
      const attribute = new InstancedBufferAttribute(new Float32Array(size * n), size);
      geometry.setAttribute(name, attribute.setUsage(DynamicDrawUsage));
    }
    this.room = n;
  }

  paint(table) {
    this.map.image.data.set(table);
    this.map.needsUpdate = true;
  }
}

function fill(attribute, values, images) {
  attribute.array.set(values);
  attribute.array.set(images, values.length);
  attribute.needsUpdate = true;
}
