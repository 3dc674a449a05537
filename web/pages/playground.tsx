import { Link, useParams } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { type ComponentType, type ReactNode, Suspense } from 'react';
import { prefetch } from '../api/data.ts';
import { later } from '../api/later.ts';
import { MissingPage, Page } from '../components/page.tsx';
import { useScrollingRow } from '../components/scrolling-row.ts';
import { SkeletonRows } from '../components/skeleton.tsx';
import { playgroundWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Chat } from './play/chat.tsx';
import { Paid, type Payer } from './play/payer.tsx';

const Images = later(
  () => import('./play/images.tsx'),
  (file) => file.Images,
);
const Videos = later(
  () => import('./play/videos.tsx'),
  (file) => file.Videos,
);
const Speech = later(
  () => import('./play/speech.tsx'),
  (file) => file.Speech,
);
const Transcription = later(
  () => import('./play/transcription.tsx'),
  (file) => file.Transcription,
);
const Embedding = later(
  () => import('./play/embedding.tsx'),
  (file) => file.Embedding,
);

const kinds = ['chat', 'image', 'video', 'speech', 'transcription', 'embedding'] as const;
type Kind = (typeof kinds)[number];

const benches: Readonly<Record<Kind, ComponentType<Payer>>> = {
  chat: Chat,
  image: Images,
  video: Videos,
  speech: Speech,
  transcription: Transcription,
  embedding: Embedding,
};

export const ahead = () => prefetch('keys', { limit: 100 });

/** Tries models, paid by one of the user's keys. */
export function PlaygroundPage(): ReactNode {
  const words = useWords(playgroundWords);
  const { kind: named = 'chat' } = useParams({ strict: false });
  const kind = kinds.find((each) => each === named);
  if (kind === undefined) return <MissingPage />;
  const Bench = benches[kind];
  return (
    <Page title={words.title} wide actions={<Kinds open={kind} />}>
      <Suspense fallback={<SkeletonRows />}>
        <Paid key={kind} kind={kind}>
          {(payer) => <Bench {...payer} />}
        </Paid>
      </Suspense>
    </Page>
  );
}

function Kinds({ open }: { readonly open: Kind }): ReactNode {
  const words = useWords(playgroundWords);
  const row = useScrollingRow<HTMLElement>(open);
  return (
    <nav
      ref={row}
      aria-label={words.kindsLabel}
      className="fading relative flex max-w-[calc(100vw-2rem)] overflow-x-auto rounded-control border border-line bg-sunken p-0.5"
    >
      {kinds.map((kind) => (
        <Link
          key={kind}
          to="/playground/$kind"
          params={{ kind }}
          aria-current={kind === open ? 'page' : undefined}
          className={clsx(
            'inline-flex h-7 shrink-0 items-center rounded-badge px-2 text-table font-medium sm:px-3 touch:h-10',
            kind === open
              ? 'bg-surface text-text shadow-[0_0_0_1px_var(--color-line)]'
              : 'text-muted hover:text-text',
          )}
        >
          {words.kinds[kind]}
        </Link>
      ))}
    </nav>
  );
}
