// Text of the page to bytes: base64, then deflate.

export async function inflate(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : fromBase64(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}
