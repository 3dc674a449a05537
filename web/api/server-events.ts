import { open, type SendOptions } from './client.ts';

type Takes<Events> = { readonly [Name in keyof Events]: (data: Events[Name]) => void };

/**
 * POSTs, and hands over each event of the response as it comes; resolves when the response has
 * ended. `Events` is the contract's.
 */
export async function sendForEvents<Events>(
  path: string,
  options: SendOptions,
  takes: Takes<Events>,
): Promise<void> {
  const { body } = await open('POST', path, {
    ...options,
    headers: { accept: 'text/event-stream' },
  });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const blocks = (rest + (value ?? '')).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) take(block, takes);
    if (done) return;
  }
}

function take<Events>(block: string, takes: Takes<Events>): void {
  const lines = block.split('\n');
  const after = (start: string) =>
    lines.find((line) => line.startsWith(start))?.slice(start.length);
  const name = after('event: ');
  const data = after('data: ');
  if (name === undefined || data === undefined || !(name in takes)) return;
  const known = name as keyof Events;
  takes[known](JSON.parse(data) as Events[typeof known]); // parsing: the contract says which type
}
