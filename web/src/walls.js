// Walls: outlines as lines of constant width, and in 3D translucent faces that are seen only from the grains' side.

import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, FrontSide, GLSL3, Group, InstancedBufferAttribute,
  InstancedBufferGeometry, Mesh, MeshBasicMaterial, ShaderMaterial, Vector2,
} from "three";
import { edges } from "./cell.js";
import { cross, dot, planePolygon, plus, sideways } from "./cut.js";

const AROUND = 96; // points of a circle

const VERTEX = `
in vec3 start, end; in float width;
uniform vec2 window;
out float aside, half_width;
void main() {
  vec4 a = projectionMatrix * modelViewMatrix * vec4(start, 1.0), b = projectionMatrix * modelViewMatrix * vec4(end, 1.0);
  vec2 way = (b.xy / b.w - a.xy / a.w) * window;
  way = length(way) > 0.0 ? normalize(way) : vec2(1.0, 0.0);
  vec4 here = position.y > 0.0 ? b : a;
  half_width = 0.5 * width + 1.0; aside = position.x * half_width;
  vec2 shift = vec2(-way.y, way.x) * aside + way * position.y * 0.5 * width;
  gl_Position = here + vec4(2.0 * shift / window * here.w, 0.0, 0.0);
}`;

const FRAGMENT = `
precision highp float;
in float aside, half_width;
uniform vec3 ink; uniform float opacity;
out vec4 colour;
void main() { colour = vec4(ink, opacity * clamp(half_width - abs(aside) - 0.5, 0.0, 1.0)); }`;

export class Walls {
  constructor(dimension) {
    this.dimension = dimension;
    this.group = new Group();
    this.ink = new Color();
    this.window = new Vector2(1, 1);
    this.told = "";
  }

  // walls, cell: as in the file; origin: of the positions; low, high: corners of what is in view
  show({ walls, cell, origin }, low, high) {
    const told = JSON.stringify([walls, cell, low, high]);
    if (told === this.told) return;
    this.told = told;
    this.group.children.forEach((child) => child.geometry.dispose());
    this.group.clear();
    const moved = walls.map((wall) => ({ ...wall, point: plus(wall.point, origin, -1) }));
    const planes = moved.filter((wall) => wall.shape === "plane");
    const lines = [];
    for (const wall of moved) {
      if (wall.shape === "plane") this.polygon(planePolygon(wall, planes, low, high, this.dimension), wall, lines, FrontSide);
      if (wall.shape === "plate") this.polygon(this.plate(wall), wall, lines, DoubleSide);
      if (wall.shape === "cylinder") this.cylinder(wall, lines, low, high);
      if (wall.faces) this.drawn(wall, lines);
    }
    if (cell) for (const [from, to] of edges(cell, origin, low, high, this.dimension)) dashes(from, to, lines);
    if (lines.length) this.group.add(this.outlines(lines));
  }

  plate({ point, normal, along, half }) {
    if (this.dimension === 2) return [plus(point, along, -half[0]), plus(point, along, half[0])];
    const across = cross(normal, along);
    return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => plus(plus(point, along, a * half[0]), across, b * half[1]));
  }

  polygon(points, wall, lines, side) {
    const width = wall.guided ? 5 : this.dimension === 2 ? 2.5 : 1.5;
    for (let i = 0; i < points.length - (this.dimension === 2 ? 1 : 0); i++) {
      lines.push([points[i], points[(i + 1) % points.length], width]);
    }
    if (this.dimension === 3 && points.length > 2) this.face(points.slice(1, -1).flatMap((p, i) => [points[0], p, points[i + 2]]), side);
  }

  cylinder({ point, axis, radius, half, inside }, lines, low, high) {
    const u = this.dimension === 2 ? [1, 0, 0] : sideways(axis), v = cross(axis, u);
    const ring = (h) => Array.from({ length: AROUND + 1 }, (_, k) => {
      const angle = (2 * Math.PI * k) / AROUND;
      return plus(plus(plus(point, axis, h), u, radius * Math.cos(angle)), v, radius * Math.sin(angle));
    });
    if (this.dimension === 2) return segments(ring(0), lines, 2.5);
    let [from, to] = half ? [-half[0], half[0]] : [Infinity, -Infinity];
    if (!half) {
      for (let corner = 0; corner < 8; corner++) {
        const h = dot(plus([0, 1, 2].map((x) => ((corner >> x) & 1 ? high[x] : low[x])), point, -1), axis);
        [from, to] = [Math.min(from, h), Math.max(to, h)];
      }
    }
    const bottom = ring(from), top = ring(to), faces = [];
    segments(bottom, lines, 1.5);
    segments(top, lines, 1.5);
    for (let k = 0; k < AROUND; k++) {
      faces.push(bottom[k], top[k], bottom[k + 1], top[k], top[k + 1], bottom[k + 1]);
    }
    this.face(faces, inside ? FrontSide : DoubleSide);
  }

  // a shape that comes as lines and convex faces, seen from its point
  drawn({ point, flat, rims, faces }, lines) {
    const at = (points) => points.map((p) => plus(point, p));
    if (this.dimension === 2) return flat.forEach((line) => segments(at(line), lines, 2.5));
    rims.forEach((rim) => segments(at(rim), lines, 1.5));
    const fan = (points) => points.slice(1, -1).flatMap((p, i) => [points[0], p, points[i + 2]]);
    this.face(faces.flatMap((face) => fan(at(face))), DoubleSide);
  }

  face(points, side) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points.flat()), 3));
    const material = new MeshBasicMaterial({ color: this.ink, transparent: true, opacity: 0.13, side, depthWrite: false, toneMapped: false });
    const mesh = new Mesh(geometry, material);
    mesh.renderOrder = -1;
    this.group.add(mesh);
  }

  outlines(lines) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.setAttribute("start", new InstancedBufferAttribute(new Float32Array(lines.flatMap((line) => line[0])), 3));
    geometry.setAttribute("end", new InstancedBufferAttribute(new Float32Array(lines.flatMap((line) => line[1])), 3));
    geometry.setAttribute("width", new InstancedBufferAttribute(new Float32Array(lines.map((line) => line[2])), 1));
    const material = new ShaderMaterial({
      glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, side: DoubleSide,
      depthTest: this.dimension === 3,
      uniforms: { window: { value: this.window }, ink: { value: this.ink }, opacity: { value: this.dimension === 2 ? 1 : 0.55 } },
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = 1;
    return mesh;
  }

  repaint(colour) {
    this.ink.set(colour);
    this.told = "";
  }
}

// Faces of a periodic cell are no walls: their edges are dashed.
function dashes(from, to, lines) {
  const count = 40, way = plus(to, from, -1);
  for (let k = 0; k < count; k++) lines.push([plus(from, way, k / count), plus(from, way, (k + 0.6) / count), 1.5]);
}

function segments(points, lines, width) {
  for (let i = 0; i + 1 < points.length; i++) lines.push([points[i], points[i + 1], width]);
}
