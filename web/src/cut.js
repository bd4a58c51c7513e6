// Infinite walls, cut to what is in view. Points are arrays [x, y, z].

export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const unit = (a) => {
  const length = Math.sqrt(dot(a, a)) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
};

export function sideways(axis) {
  const least = axis.map(Math.abs).indexOf(Math.min(...axis.map(Math.abs)));
  const other = [0, 0, 0];
  other[least] = 1;
  return unit(cross(axis, other));
}

// The six (in 2D: four) half-spaces of a box.
export function boxSides(low, high, dimension) {
  const sides = [];
  for (let x = 0; x < dimension; x++) {
    const normal = [0, 0, 0];
    normal[x] = 1;
    sides.push({ point: low, normal }, { point: high, normal: normal.map((n) => -n) });
  }
  return sides;
}

// What is left of a convex polygon (or a segment) in front of all half-spaces.
export function cut(polygon, halves) {
  for (const { point, normal } of halves) {
    const depth = polygon.map((p) => dot(plus(p, point, -1), normal));
    const kept = [], n = polygon.length;
    for (let i = 0; i < n; i++) {
      const j = (i + 1) % n;
      if (depth[i] >= 0) kept.push(polygon[i]);
      const crosses = depth[i] >= 0 !== depth[j] >= 0 && !(n === 2 && i === 1);
      if (crosses) kept.push(plus(polygon[i], plus(polygon[j], polygon[i], -1), depth[i] / (depth[i] - depth[j])));
    }
    polygon = kept;
    if (!polygon.length) break;
  }
  return polygon;
}

// A plane wall as a polygon (a segment in 2D): cut by the box and, where something is left, by the other planes.
export function planePolygon(wall, planes, low, high, dimension) {
  const reach = 4 * Math.hypot(...plus(high, low, -1)) + 2 * Math.hypot(...plus(wall.point, low, -1));
  const u = dimension === 2 ? [-wall.normal[1], wall.normal[0], 0] : sideways(wall.normal);
  const v = cross(wall.normal, u);
  const at = (a, b) => plus(plus(wall.point, u, a * reach), v, b * reach);
  const whole = dimension === 2 ? [at(-1, 0), at(1, 0)] : [at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)];
  const inBox = cut(whole, boxSides(low, high, dimension));
  const size = Math.hypot(...plus(high, low, -1));
  const others = planes.filter((p) => p !== wall && Math.abs(dot(p.normal, wall.normal)) < 0.999)
    .map((p) => ({ normal: p.normal, point: plus(p.point, p.normal, -1e-6 * size) }));
  const neat = cut(inBox, others);
  return neat.length > 1 ? neat : inBox;
}
