import { decodeImage, type ImageFacts } from '../../sim/image.ts';
import { textIn } from '../../sim/media/png.ts';

/** A response of the image endpoints, or a refusal. */
export interface Made {
  readonly created: number;
  readonly data: readonly MadePicture[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

export interface MadePicture {
  readonly url?: string;
  readonly b64_json?: string;
  readonly revised_prompt?: string;
}

export const made = async (reply: Response): Promise<Made> => JSON.parse(await reply.text());

/** The text in an image, wherever the image is. */
export async function shown({
  url,
  b64_json: base64,
}: MadePicture): Promise<Partial<ImageFacts> & { readonly words: string | undefined }> {
  const bytes =
    base64 === undefined
      ? Buffer.from(await (await fetch(url ?? '')).arrayBuffer())
      : Buffer.from(base64, 'base64');
  return { words: textIn(bytes), ...decodeImage(`data:;base64,${bytes.toString('base64')}`) };
}

type Files = readonly (readonly [field: string, bytes: Buffer, type?: string])[];

export function imageForm(fields: Readonly<Record<string, string>>, files: Files): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, bytes, type = 'image/png'] of files)
    form.append(name, new Blob([new Uint8Array(bytes)], { type }), 'picture.png');
  return form;
}

export const sendForm = (
  to: { readonly url: string; readonly key: string },
  path: string,
  body: FormData,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(to.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.key}`, ...headers },
    body,
  });

/** Type and data of each event of a stream. */
export function imageEvents(
  text: string,
): readonly { readonly name: string; readonly data: Readonly<Record<string, unknown>> }[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => ({
      name: /^event: (.*)$/m.exec(block)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}'),
    }));
}
