import type { ReactNode } from 'react';
import { copyText } from '../../browser/clipboard.ts';
import { ButtonAnchor, IconButton } from '../../components/button.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useToast } from '../../components/toast.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { readFile } from './files.ts';
import type { SentFile } from './turns.ts';

/** An image of the API's response. */
export interface Made {
  readonly url?: string;
  readonly b64_json?: string;
  readonly revised_prompt?: string;
}

interface GalleryProps {
  readonly made: readonly Made[];
  /** The number of images that are being made. */
  readonly waiting: number;
  readonly onUse: (image: SentFile) => void;
}

/** The images that were made. */
export function Gallery({ made, waiting, onUse }: GalleryProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  if (made.length + waiting === 0) return null;
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,15rem),1fr))] gap-3">
      {Array.from({ length: waiting }, (_, index) => (
        <li key={`waiting ${index}`}>
          <Skeleton className="aspect-square w-full" />
        </li>
      ))}
      {made.map((one, index) => (
        <li
          key={one.url ?? index}
          className="overflow-hidden rounded-control border border-line bg-sunken"
        >
          <img
            src={addressOf(one)}
            alt={words.result(index + 1)}
            className="aspect-square w-full object-contain"
          />
          <Actions one={one} at={index + 1} onUse={onUse} />
          {one.revised_prompt !== undefined && (
            <p className="px-3 pb-2 text-caption text-muted">{one.revised_prompt}</p>
          )}
        </li>
      ))}
    </ul>
  );
}

const addressOf = ({ url, b64_json: base64 }: Made): string =>
  url ?? `data:image/png;base64,${base64 ?? ''}`;

function Actions({
  one,
  at,
  onUse,
}: {
  readonly one: Made;
  readonly at: number;
  readonly onUse: (image: SentFile) => void;
}): ReactNode {
  const { image: words } = useWords(playgroundWords);
  const toast = useToast();
  const name = `image-${at}.png`;
  const load = async (): Promise<SentFile> =>
    readFile(await (await fetch(addressOf(one))).blob(), name);
  const copy = async () => {
    const { url } = await load();
    if (await copyText(url.slice(url.indexOf(',') + 1)))
      toast({ tone: 'done', text: words.copied });
  };
  return (
    <div className="flex items-center gap-1 border-t border-line bg-surface p-1">
      <ButtonAnchor size="small" look="ghost" icon="download" href={addressOf(one)} download={name}>
        {words.download}
      </ButtonAnchor>
      <span className="ml-auto flex">
        <IconButton
          icon="edit"
          size="small"
          label={words.use}
          onClick={() => void load().then(onUse)}
        />
        <IconButton icon="copy" size="small" label={words.copy} onClick={() => void copy()} />
      </span>
    </div>
  );
}
