import type { ImageFile } from './turns.ts';

/** The limit of one image, before base64. */
export const imageBytesMax = 10 * 1024 * 1024;
export const imageLimit = '10 MB';

/** Reads a file as a data URL. */
export function readImage(file: Blob, name: string): Promise<ImageFile> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve({
        name,
        type: file.type,
        url: typeof reader.result === 'string' ? reader.result : '',
      }),
    );
    reader.addEventListener('error', () => reject(new Error(`${name} cannot be read`)));
    reader.readAsDataURL(file);
  });
}

/** The files of a paste or drop. */
export function filesOf(data: DataTransfer | null): readonly File[] {
  return [...(data?.files ?? [])];
}

export type Unfit = { readonly kind: 'tooLarge' | 'notImage'; readonly name: string };

/** Splits files into images that can be sent and others. */
export async function takeImages(
  files: readonly File[],
): Promise<{ readonly images: readonly ImageFile[]; readonly unfit: readonly Unfit[] }> {
  const unfit: Unfit[] = [];
  const fit = files.filter((file) => {
    const kind = file.type.startsWith('image/')
      ? file.size > imageBytesMax
        ? 'tooLarge'
        : undefined
      : 'notImage';
    if (kind !== undefined) unfit.push({ kind, name: file.name });
    return kind === undefined;
  });
  return {
    images: await Promise.all(fit.map((file) => readImage(file, file.name || 'picture.png'))),
    unfit,
  };
}

/** Width and height of an image, in its own pixels. */
export async function sidesOf(
  url: string,
): Promise<{ readonly width: number; readonly height: number }> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return { width: image.naturalWidth, height: image.naturalHeight };
}
