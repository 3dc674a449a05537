import { clsx } from 'clsx';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useRef,
  useState,
} from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { TextInput, Textarea } from '../../components/field.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { playgroundWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { filesOf, imageLimit, takeImages } from './image-files.ts';
import type { ImageFile } from './turns.ts';

export interface Draft {
  readonly text: string;
  readonly images: readonly ImageFile[];
}

export const emptyDraft: Draft = { text: '', images: [] };

interface ComposerProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly running: boolean;
  readonly seesImages: boolean;
  /** The reason why nothing can be sent now. */
  readonly disabledFor: string | undefined;
  /** The highest cost of the message. */
  readonly note: ReactNode;
}

/**
 * The editor of a message: Enter sends, Shift Enter begins a line; images come by paste, drop, file
 * or address.
 */
export function Composer({
  draft,
  onChange,
  onSend,
  onStop,
  running,
  seesImages,
  disabledFor,
  note,
}: ComposerProps): ReactNode {
  const { chat, ...words } = useWords(playgroundWords);
  const [over, setOver] = useState(false);
  const { unfit, add } = useAttaching(draft, onChange);
  const drop = (event: DragEvent | ClipboardEvent, data: DataTransfer | null) => {
    const files = filesOf(data);
    if (!seesImages || files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (!sends(event) || running) return;
    event.preventDefault();
    onSend();
  };
  return (
    <div
      className={clsx('flex flex-col gap-2 border-t border-line p-3', over && 'bg-accent-soft')}
      onDragOver={(event) => {
        if (!seesImages) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        drop(event, event.dataTransfer);
      }}
    >
      <Attached images={draft.images} onChange={(images) => onChange({ ...draft, images })} />
      <Unfit texts={unfit} />
      <Textarea
        rows={3}
        aria-label={chat.message}
        placeholder={over ? chat.drop : chat.placeholder}
        value={draft.text}
        onChange={(event) => onChange({ ...draft, text: event.target.value })}
        onPaste={(event) => drop(event, event.clipboardData)}
        onKeyDown={onKey}
      />
      <div className="flex flex-wrap items-center gap-2">
        {seesImages && (
          <AddImages
            onFiles={(files) => void add(files)}
            onImage={(image) => onChange({ ...draft, images: [...draft.images, image] })}
          />
        )}
        <span className="ml-auto text-caption text-muted">{note}</span>
        {running ? (
          <Button icon="stop" onClick={onStop}>
            {words.stop}
          </Button>
        ) : (
          <Button look="primary" icon="play" disabledFor={disabledFor} onClick={onSend}>
            {words.run}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Enter alone sends, unless an input method is composing or there is no keyboard. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' &&
  !event.shiftKey &&
  !event.nativeEvent.isComposing &&
  matchMedia('(pointer: fine)').matches;

/** Attaches files as images; reports the ones that are not. */
function useAttaching(draft: Draft, onChange: (draft: Draft) => void) {
  const { chat } = useWords(playgroundWords);
  const [unfit, setUnfit] = useState<readonly string[]>([]);
  const add = async (files: readonly File[]) => {
    const taken = await takeImages(files);
    setUnfit(
      taken.unfit.map(({ kind, name }) =>
        kind === 'tooLarge' ? chat.tooLarge(name, imageLimit) : chat.notImage(name),
      ),
    );
    onChange({ ...draft, images: [...draft.images, ...taken.images] });
  };
  return { unfit, add };
}

function Unfit({ texts }: { readonly texts: readonly string[] }): ReactNode {
  return texts.map((text) => (
    <p key={text} role="alert" className="text-caption text-bad">
      {text}
    </p>
  ));
}

interface AttachedProps {
  readonly images: readonly ImageFile[];
  readonly onChange: (images: readonly ImageFile[]) => void;
}

function Attached({ images, onChange }: AttachedProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  if (images.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {images.map((image, at) => (
        <li
          key={`${at}${image.name}`}
          className="flex max-w-full items-center gap-1 rounded-control border border-line p-1"
        >
          {image.url.startsWith('data:') ? (
            <img src={image.url} alt={image.name} className="size-12 rounded-badge object-cover" />
          ) : (
            <Badge icon="external">{image.url}</Badge>
          )}
          <IconButton
            icon="close"
            size="small"
            label={chat.remove(image.name)}
            onClick={() => onChange(images.toSpliced(at, 1))}
          />
        </li>
      ))}
    </ul>
  );
}

interface AddImagesProps {
  readonly onFiles: (files: readonly File[]) => void;
  readonly onImage: (image: ImageFile) => void;
}

function AddImages({ onFiles, onImage }: AddImagesProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const { actions } = useWords(sharedWords);
  const input = useRef<HTMLInputElement>(null);
  const [address, setAddress] = useState<string>();
  const [wrong, setWrong] = useState(false);
  const take = () => {
    const typed = address?.trim() ?? '';
    if (!/^https?:\/\/\S+$/.test(typed)) return setWrong(true);
    onImage({ name: typed, type: '', url: typed });
    setAddress(undefined);
    setWrong(false);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <IconButton
        icon="plus"
        look="secondary"
        label={chat.attach}
        onClick={() => input.current?.click()}
      />
      {address === undefined ? (
        <IconButton
          icon="external"
          look="secondary"
          label={chat.addUrl}
          onClick={() => setAddress('')}
        />
      ) : (
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
          <TextInput
            autoFocus
            type="url"
            className="max-w-72 min-w-32 flex-1"
            aria-label={chat.urlLabel}
            aria-invalid={wrong || undefined}
            placeholder="https://"
            value={address}
            onChange={(event) => setAddress(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setAddress(undefined);
              if (event.key !== 'Enter') return;
              event.preventDefault();
              take();
            }}
          />
          <Button onClick={take}>{chat.add}</Button>
          <Button look="ghost" onClick={() => setAddress(undefined)}>
            {actions.cancel}
          </Button>
          {wrong && <span className="text-caption text-bad">{chat.badUrl}</span>}
        </div>
      )}
    </>
  );
}
