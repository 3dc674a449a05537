import type { SentFile } from './turns.ts';

/** The limit of one file, before base64. */
const fileBytesMax = 10 * 1024 * 1024;
export const fileLimit = '10 MB';

/** The kinds of files that a model may take, as its modalities name them. */
export const fileKinds = ['image', 'file', 'audio'] as const;
export type FileKind = (typeof fileKinds)[number];

/** For `accept` of a file input. */
export const typesOf: Readonly<Record<FileKind, string>> = {
  image: 'image/*',
  file: 'application/pdf',
  audio: 'audio/wav,audio/mpeg',
};

function kindOf({ type }: Blob): FileKind | undefined {
  if (type.startsWith('image/')) return 'image';
  if (type === 'application/pdf') return 'file';
  return /^audio\/(?:x-)?(?:wave?|mpeg|mp3)$/.test(type) ? 'audio' : undefined;
}

/** Reads a file as a data URL. */
export function readFile(file: Blob, name: string): Promise<SentFile> {
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

export type Unfit = { readonly kind: 'tooLarge' | 'notTaken'; readonly name: string };

/** Splits files into those that can be sent, and others. */
export async function takeFiles(
  given: readonly File[],
  takes: readonly FileKind[],
): Promise<{ readonly files: readonly SentFile[]; readonly unfit: readonly Unfit[] }> {
  const unfit: Unfit[] = [];
  const fit = given.filter((file) => {
    const kind = kindOf(file);
    const wrong =
      kind === undefined || !takes.includes(kind)
        ? 'notTaken'
        : file.size > fileBytesMax
          ? 'tooLarge'
          : undefined;
    if (wrong !== undefined) unfit.push({ kind: wrong, name: file.name });
    return wrong === undefined;
  });
  return {
    files: await Promise.all(fit.map((file) => readFile(file, file.name || 'picture.png'))),
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
