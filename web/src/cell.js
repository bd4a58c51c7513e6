// A periodic cell: grains are brought into it, in 2D those near a face are seen at the opposite one too, and its edges are drawn.

import { dot, plus } from "./cut.js";

// Centres into the cell, in place; velocities are then those of the image.
export function intoCell(frame) {
  const { cell, position, velocity } = frame;
  if (!cell) return frame;
  const inverse = inverted(cell.vectors), corner = plus(cell.origin, frame.origin, -1);
  for (let i = 0; i < frame.n; i++) {
    const at = shares(inverse, [0, 1, 2].map((x) => position[3 * i + x] - corner[x]));
    cell.vectors.forEach((vector, k) => {
      const away = cell.periodic[k] ? Math.floor(at[k]) : 0;
      if (!away) return;
      for (let x = 0; x < 3; x++) {
        position[3 * i + x] -= away * vector[x];
        velocity[3 * i + x] -= away * dot(cell.rate[x], vector);
      }
    });
  }
  return frame;
}

// Images that reach into the cell: rows of their grains and where they are.
export function ghosts(frame) {
  const { cell } = frame, rows = [], places = [];
  if (!cell || frame.dimension === 3) return { rows, places };
  const inverse = inverted(cell.vectors), corner = plus(cell.origin, frame.origin, -1);
  const width = [0, 1, 2].map((k) => 1 / Math.hypot(...inverse.map((row) => row[k])));
  const steps = cell.periodic.map((has) => (has ? [-1, 0, 1] : [0]));
  for (let i = 0; i < frame.n; i++) {
    const here = [0, 1, 2].map((x) => frame.position[3 * i + x]), at = shares(inverse, plus(here, corner, -1));
    for (const a of steps[0]) {
      for (const b of steps[1]) {
        const k = [a, b, 0];
        if (!a && !b) continue;
        const near = k.every((step, x) => !cell.periodic[x] || Math.abs(at[x] + step - 0.5) < 0.5 + frame.reach[i] / width[x]);
        if (near) {
          rows.push(i);
          places.push(moved(here, cell.vectors, k));
        }
      }
    }
  }
  return { rows, places };
}

// The way from one centre to the nearest image of another, and whether a face lies between.
export function nearest(cell) {
  const inverse = inverted(cell.vectors);
  return (way) => {
    const k = shares(inverse, way).map((share, x) => (cell.periodic[x] ? -Math.round(share) : 0));
    return k.some((step) => step) ? { way: moved(way, cell.vectors, k), through: true } : { way, through: false };
  };
}

// Edges of the faces that have images; along open directions they end with the box that is in view.
export function edges(cell, origin, low, high, dimension) {
  const axes = [0, 1, 2].slice(0, dimension), corner = plus(cell.origin, origin, -1), lines = [];
  const vectors = cell.vectors.map((vector, k) => (cell.periodic[k] ? vector : vector.map((_, x) => (x === k ? high[k] - low[k] : 0))));
  const start = corner.map((x, k) => (k >= dimension ? 0 : cell.periodic[k] ? x : low[k]));
  for (const along of axes) {
    const others = axes.filter((axis) => axis !== along);
    if (!others.some((axis) => cell.periodic[axis])) continue;
    for (let ends = 0; ends < 1 << others.length; ends++) {
      const from = others.reduce((p, axis, bit) => ((ends >> bit) & 1 ? plus(p, vectors[axis]) : p), start);
      lines.push([from, plus(from, vectors[along])]);
    }
  }
  return lines;
}

export function corners(cell, origin) {
  const corner = plus(cell.origin, origin, -1), places = [];
  for (let ends = 0; ends < 8; ends++) {
    const k = [0, 1, 2].map((x) => (cell.periodic[x] ? (ends >> x) & 1 : 0));
    places.push({ place: moved(corner, cell.vectors, k), known: cell.periodic });
  }
  return places;
}

function moved(place, vectors, k) {
  return vectors.reduce((p, vector, axis) => plus(p, vector, k[axis]), place);
}

// Shares of the vectors in a place; columns of the inverse belong to vectors.
function shares(inverse, place) {
  return [0, 1, 2].map((k) => place[0] * inverse[0][k] + place[1] * inverse[1][k] + place[2] * inverse[2][k]);
}

// Of rows (a, 0, 0), (b_x, b, 0), (c_x, c_y, c).
function inverted([[a], [d, b], [e, f, c]]) {
  return [[1 / a, 0, 0], [-d / (a * b), 1 / b, 0], [(d * f - b * e) / (a * b * c), -f / (b * c), 1 / c]];
}
