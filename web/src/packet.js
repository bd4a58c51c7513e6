// Reads packets as view/page/codec.py writes them: a head and channels of whole numbers or floats.

export const RAW = 0, ALONG = 1, HOLD = 2, GLIDE = 3, GUESS = 4;

export function unpack(bytes) {
  const length = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const channels = {};
  let at = 4 + length;
  for (const [name, mode, planes, count] of head.channels) {
    const size = (planes || 4) * count;
    const part = bytes.subarray(at, at + size);
    channels[name] = { mode, data: planes ? unfold(part, planes, count) : floats(part) };
    at += size;
  }
  return { head, channels };
}

// The numbers themselves, from what a prediction left. `before` holds the last frames, the newest first.
export function restore({ mode, data }, before = [], guess = null) {
  const n = data.length;
  if (mode === ALONG) for (let i = 1; i < n; i++) data[i] += data[i - 1];
  if (mode === HOLD) for (let i = 0, p = before[0]; i < n; i++) data[i] += p[i];
  if (mode === GLIDE) for (let i = 0, [p, q] = before; i < n; i++) data[i] += 2 * p[i] - q[i];
  if (mode >= GUESS) for (let i = 0, g = guess(mode - GUESS); i < n; i++) data[i] += g[i];
  return data;
}

function unfold(bytes, planes, count) {
  const whole = new Int32Array(count);
  for (let k = 0; k < planes; k++) {
    for (let i = 0, at = k * count; i < count; i++) whole[i] |= bytes[at + i] << (8 * k);
  }
  for (let i = 0; i < count; i++) whole[i] = (whole[i] >>> 1) ^ -(whole[i] & 1);
  return whole;
}

function floats(bytes) {
  return new Float32Array(bytes.slice().buffer);
}
