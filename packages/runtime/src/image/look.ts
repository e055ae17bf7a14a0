/** What the first bytes of a file say it is, whatever its name says. */
export interface ImageLook {
  readonly name: "PNG" | "JPEG" | "GIF" | "WebP" | "BMP";
  /** Null for a format that models don't read. */
  readonly mediaType: string | null;
  /** Pixels; null where they can't be read: the file is damaged or cut. */
  readonly size: { readonly width: number; readonly height: number } | null;
}

export function lookAtImage(bytes: Uint8Array): ImageLook | null {
  const found = formats.find(({ mark }) => mark.every((byte, at) => at < bytes.length && (byte === null || bytes[at] === byte)));
  if (found === undefined) return null;
  const size = found.size(new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
  return { name: found.name, mediaType: found.mediaType, size: size === null || size.width === 0 || size.height === 0 ? null : size };
}

type Size = (view: DataView) => ImageLook["size"];

/** Reads at a place; null where the file ends before. */
function atPlace(needs: number, read: (view: DataView) => { width: number; height: number }): Size {
  return (view) => (view.byteLength < needs ? null : read(view));
}

const formats: readonly (Pick<ImageLook, "name" | "mediaType"> & { readonly mark: readonly (number | null)[]; readonly size: Size })[] = [
  {
    name: "PNG",
    mediaType: "image/png",
    mark: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    size: atPlace(24, (view) => ({ width: view.getUint32(16), height: view.getUint32(20) })),
  },
  { name: "JPEG", mediaType: "image/jpeg", mark: [0xff, 0xd8, 0xff], size: jpegSize },
  {
    name: "GIF",
    mediaType: "image/gif",
    mark: [0x47, 0x49, 0x46, 0x38, null, 0x61],
    size: atPlace(10, (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) })),
  },
  {
    name: "WebP",
    mediaType: "image/webp",
    mark: [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
    size: webpSize,
  },
  { name: "BMP", mediaType: null, mark: [0x42, 0x4d, null, null, null, null, 0, 0, 0, 0], size: () => null },
];

/** ITU T.81, B.1: segments up to the frame header. */
function jpegSize(view: DataView): ImageLook["size"] {
  for (let at = 2; at + 9 < view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    const isBare = marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += marker === 0xff ? 1 : isBare ? 2 : 2 + view.getUint16(at + 2);
  }
  return null;
}

/** RFC 9649, 2: the extended, the lossless and the lossy form. */
function webpSize(view: DataView): ImageLook["size"] {
  if (view.byteLength < 30) return null;
  const triple = (at: number) => view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
  switch (view.getUint32(12)) {
    case 0x56503858:
      return { width: triple(24) + 1, height: triple(27) + 1 };
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return null;
  }
}
