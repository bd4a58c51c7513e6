// What the first view shows: all grains, the finite walls, and planes that are not far away.

import { corners } from "./cell.js";
import { dot, plus } from "./cut.js";

export function sceneBox(head, frame) {
  let { low, high } = head.low
    ? { low: plus(head.low, frame.origin, -1), high: plus(head.high, frame.origin, -1) } : grainBox(frame);
  const grow = (p) => {
    low = low.map((x, k) => Math.min(x, p[k]));
    high = high.map((x, k) => Math.max(x, p[k]));
  };
  if (frame.cell) for (const { place, known } of corners(frame.cell, frame.origin)) grow(place.map((x, k) => (known[k] ? x : (low[k] + high[k]) / 2)));
  const middle = plus(low, high).map((x) => x / 2), half = plus(high, low, -1).map((x) => x / 2);
  for (const wall of frame.walls) {
    const point = plus(wall.point, frame.origin, -1);
    if (wall.shape === "plane") {
      const far = dot(plus(middle, point, -1), wall.normal);
      const reach = dot(half, wall.normal.map(Math.abs));
      if (far < 3 * reach) grow(plus(middle, wall.normal, -far));
    } else if (wall.shape === "plate") {
      for (const s of [-1, 1]) grow(plus(point, wall.along, s * wall.half[0]));
    } else if (wall.faces) {
      const drawn = head.dimension === 2 ? wall.flat : [...wall.rims, ...wall.faces];
      for (const p of drawn.flat()) grow(plus(point, p));
    } else {
      const wide = wall.axis.map((a) => wall.radius * Math.sqrt(Math.max(0, 1 - a * a)) + (wall.half ? Math.abs(a) * wall.half[0] : 0));
      const flat = head.dimension === 2 ? [wall.radius, wall.radius, 0] : wide;
      if (wall.half || wall.inside || head.dimension === 2) {
        const along = wall.half || head.dimension === 2 ? 0 : dot(plus(middle, point, -1), wall.axis);
        for (const s of [-1, 1]) grow(plus(plus(point, wall.axis, along), flat, s));
      }
    }
  }
  const margin = 0.015 * Math.max(...plus(high, low, -1));
  low = low.map((x) => x - margin);
  high = high.map((x) => x + margin);
  if (head.dimension === 2) [low[2], high[2]] = [0, 0];
  return { low, high };
}

function grainBox({ position, reach, n }) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; i++) {
    for (let x = 0; x < 3; x++) {
      low[x] = Math.min(low[x], position[3 * i + x] - reach[i]);
      high[x] = Math.max(high[x], position[3 * i + x] + reach[i]);
    }
  }
  return { low, high };
}
