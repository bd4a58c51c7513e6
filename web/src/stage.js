// The stage: renderer, camera and light-weight rules of what is in view. Draws only when something changed.

import {
  ColorManagement, LinearSRGBColorSpace, MOUSE, OrthographicCamera, PerspectiveCamera, Scene, TOUCH, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Bars } from "./bars.js";
import { plus } from "./cut.js";
import { Packing } from "./packing.js";
import { Walls } from "./walls.js";

const FIELD = 32; // degrees
ColorManagement.enabled = false; // colours are shown as they are given

export class Stage {
  constructor(place, dimension, gravity, shapes) {
    this.place = place;
    this.flat = dimension === 2;
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    place.append(this.renderer.domElement);
    this.scene = new Scene();
    this.camera = this.flat ? new OrthographicCamera() : new PerspectiveCamera(FIELD);
    this.camera.up.copy(this.flat ? new Vector3(0, 1, 0) : upwards(gravity));
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.zoomToCursor = this.flat;
    if (this.flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN };
      this.controls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
    }
    this.controls.addEventListener("change", () => this.draw());
    this.grains = new Packing(dimension, shapes);
    this.bars = new Bars(dimension);
    this.walls = new Walls(dimension);
    this.scene.add(this.grains.group, this.bars.mesh, this.walls.group);
    this.low = [0, 0, 0];
    this.high = [1, 1, 1];
    new ResizeObserver(() => this.resize()).observe(place);
  }

  // Corners of what the first view shows, relative to the origin of the positions.
  setBox(low, high) {
    this.low = low;
    this.high = high;
  }

  // Look at the whole box: face-on in 2D, from the front and above in 3D. `margins` are pixels that controls cover.
  home(margins = { left: 0, right: 0, top: 0, bottom: 0 }) {
    this.margins = margins;
    const { width, height } = this.size();
    const middle = new Vector3(...plus(this.low, this.high).map((x) => x / 2));
    const side = new Vector3(...plus(this.high, this.low, -1));
    const free = { width: Math.max(width - margins.left - margins.right, 80), height: Math.max(height - margins.top - margins.bottom, 80) };
    const camera = this.camera;
    camera.zoom = 1;
    const shift = { x: (margins.left - margins.right) / 2, y: (margins.top - margins.bottom) / 2 };
    if (this.flat) {
      this.tall = Math.max(side.y / (free.height / height), (side.x / (free.width / width)) * (height / width)) * 1.04;
      const pixel = this.tall / height;
      this.controls.target.set(middle.x - shift.x * pixel, middle.y + shift.y * pixel, 0);
      camera.position.copy(this.controls.target).setZ(10 * side.length() + 1);
    } else {
      const { eye, right, up } = axes(camera.up);
      const half = (way) => 0.5 * (Math.abs(way.x) * side.x + Math.abs(way.y) * side.y + Math.abs(way.z) * side.z);
      const tangent = Math.tan((FIELD * Math.PI) / 360);
      const tall = Math.max(half(up) * (height / free.height), half(right) * (width / free.width) * (height / width));
      const far = (tall / tangent) * 1.04 + half(eye);
      const pixel = (2 * far * tangent) / height;
      this.controls.target.copy(middle).addScaledVector(right, -shift.x * pixel).addScaledVector(up, shift.y * pixel);
      camera.position.copy(this.controls.target).addScaledVector(eye, far);
    }
    this.resize();
    this.controls.update();
  }

  size() {
    return { width: Math.max(this.place.clientWidth, 1), height: Math.max(this.place.clientHeight, 1) };
  }

  resize() {
    const { width, height } = this.size(), camera = this.camera;
    this.renderer.setSize(width, height);
    this.walls.window.set(width, height);
    const far = camera.position.distanceTo(this.controls.target) + 4 * Math.hypot(...plus(this.high, this.low, -1));
    if (this.flat) {
      const tall = this.tall || 1;
      Object.assign(camera, { left: (-tall * width) / height / 2, right: (tall * width) / height / 2, top: tall / 2, bottom: -tall / 2 });
    } else camera.aspect = width / height;
    Object.assign(camera, { near: this.flat ? 0.01 : far / 2000, far: 2 * far });
    camera.updateProjectionMatrix();
    this.draw();
  }

  draw() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.due);
    this.due = 0;
    this.renderer.render(this.scene, this.camera);
    if (this.onDraw) this.onDraw();
  }

  // Where a point is on the canvas, in CSS pixels.
  project(point) {
    const { width, height } = this.size();
    this.camera.updateMatrixWorld();
    const at = new Vector3(...point).project(this.camera);
    return [(0.5 + 0.5 * at.x) * width, (0.5 - 0.5 * at.y) * height];
  }

  // The grain seen at a place of the canvas, or -1.
  pick(x, y, frame) {
    const { width, height } = this.size();
    this.camera.updateMatrixWorld();
    const near = new Vector3((2 * x) / width - 1, 1 - (2 * y) / height, -1).unproject(this.camera);
    const way = new Vector3((2 * x) / width - 1, 1 - (2 * y) / height, 1).unproject(this.camera).sub(near).normalize();
    const size = this.grains.uniforms.size.value, p = frame.position;
    let best = -1, nearest = Infinity;
    for (let i = 0; i < frame.n; i++) {
      const dx = p[3 * i] - near.x, dy = p[3 * i + 1] - near.y, dz = p[3 * i + 2] - near.z;
      const along = dx * way.x + dy * way.y + dz * way.z;
      const left = (frame.reach[i] * size) ** 2 - (dx * dx + dy * dy + dz * dz - along * along);
      if (left < 0) continue;
      const hit = this.grains.meets(frame, i, near.toArray(), way.toArray(), size, along - Math.sqrt(left));
      if (hit < nearest) [nearest, best] = [hit, i];
    }
    return best;
  }
}

function upwards(gravity) {
  const g = gravity.map(Math.abs), top = Math.max(...g);
  if (!top) return new Vector3(0, 0, 1);
  const axis = g.indexOf(top), up = [0, 0, 0];
  up[axis] = -Math.sign(gravity[axis]);
  return new Vector3(...up);
}

// From where a 3D scene is first seen: a little from the right and from above.
function axes(up) {
  const front = Math.abs(up.z) > 0.5 ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1);
  const right = new Vector3().crossVectors(up, front);
  const eye = front.clone().multiplyScalar(0.82).addScaledVector(right, 0.5).addScaledVector(up, 0.45).normalize();
  const across = new Vector3().crossVectors(up, eye).normalize();
  return { eye, right: across, up: new Vector3().crossVectors(eye, across) };
}
