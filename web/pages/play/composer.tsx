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
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { TextInput, Textarea } from '../../components/field.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { playgroundWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { type FileKind, fileLimit, filesOf, takeFiles, typesOf } from './files.ts';
import type { SentFile } from './turns.ts';

export interface Draft {
  readonly text: string;
  readonly files: readonly SentFile[];
}

export const emptyDraft: Draft = { text: '', files: [] };

interface ComposerProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly running: boolean;
  /** The kinds of files that every model takes. */
  readonly takes: readonly FileKind[];
  /** The reason why nothing can be sent now. */
  readonly disabledFor: string | undefined;
  /** The highest cost of the message. */
  readonly note: ReactNode;
}

/**
 * The editor of a message: Enter sends, Shift Enter begins a line; files come by paste, drop or
 * choice, images by address, too.
 */
export function Composer({
  draft,
  onChange,
  onSend,
  onStop,
  running,
  takes,
  disabledFor,
  note,
}: ComposerProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const [over, setOver] = useState(false);
  const { unfit, add } = useAttaching(draft, takes, onChange);
  const drop = (event: DragEvent | ClipboardEvent, data: DataTransfer | null) => {
    const files = filesOf(data);
    if (takes.length === 0 || files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (!sends(event) || running) return;
    event.preventDefault();
    if (disabledFor === undefined) onSend();
  };
  return (
    <div
      className={clsx('flex flex-col gap-2 border-t border-line p-3', over && 'bg-accent-soft')}
      onDragOver={(event) => {
        if (takes.length === 0) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        drop(event, event.dataTransfer);
      }}
    >
      <Attached files={draft.files} onChange={(files) => onChange({ ...draft, files })} />
      <Unfit texts={unfit} />
      <Textarea
        rows={3}
        dir="auto"
        className="max-sm:h-16"
        aria-label={chat.message}
        placeholder={over ? chat.drop : chat.placeholder}
        value={draft.text}
        onChange={(event) => onChange({ ...draft, text: event.target.value })}
        onPaste={(event) => drop(event, event.clipboardData)}
        onKeyDown={onKey}
      />
      <div className="flex flex-wrap items-center gap-2">
        {takes.length > 0 && (
          <AddFiles
            takes={takes}
            onFiles={(files) => void add(files)}
            onImage={(image) => onChange({ ...draft, files: [...draft.files, image] })}
          />
        )}
        <span className="ml-auto text-caption text-muted">{note}</span>
        <SendOrStop {...{ running, disabledFor, onSend, onStop }} />
      </div>
    </div>
  );
}

type SendProps = Pick<ComposerProps, 'running' | 'disabledFor' | 'onSend' | 'onStop'>;

function SendOrStop({ running, disabledFor, onSend, onStop }: SendProps): ReactNode {
  const words = useWords(playgroundWords);
  return running ? (
    <Button icon="stop" onClick={onStop}>
      {words.stop}
    </Button>
  ) : (
    <MaybeDisabled look="primary" icon="play" disabledFor={disabledFor} onClick={onSend}>
      {words.run}
    </MaybeDisabled>
  );
}

/** Enter alone sends, unless an input method is composing or there is no keyboard. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' &&
  !event.shiftKey &&
  !event.nativeEvent.isComposing &&
  matchMedia('(pointer: fine)').matches;

/** Attaches files; reports the ones that cannot be sent. */
function useAttaching(draft: Draft, takes: readonly FileKind[], onChange: (draft: Draft) => void) {
  const { chat } = useWords(playgroundWords);
  const [unfit, setUnfit] = useState<readonly string[]>([]);
  const add = async (files: readonly File[]) => {
    const taken = await takeFiles(files, takes);
    setUnfit(
      taken.unfit.map(({ kind, name }) =>
        kind === 'tooLarge' ? chat.tooLarge(name, fileLimit) : chat.notTaken(name),
      ),
    );
    onChange({ ...draft, files: [...draft.files, ...taken.files] });
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
  readonly files: readonly SentFile[];
  readonly onChange: (files: readonly SentFile[]) => void;
}

function Attached({ files, onChange }: AttachedProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {files.map((file, at) => (
        <li
          key={`${at}${file.name}`}
          className="flex max-w-full items-center gap-1 rounded-control border border-line p-1"
        >
          <FileView file={file} small />
          <IconButton
            icon="close"
            size="small"
            label={chat.remove(file.name)}
            onClick={() => onChange(files.toSpliced(at, 1))}
          />
        </li>
      ))}
    </ul>
  );
}

/** A file of the user. Images of other sites are named, not loaded: nobody learns of a look. */
export function FileView({
  file: { name, type, url },
  small = false,
}: {
  readonly file: SentFile;
  readonly small?: boolean;
}): ReactNode {
  if (!url.startsWith('data:')) return <Badge icon="link">{url}</Badge>;
  if (!type.startsWith('image/')) return <Badge icon="statement">{name}</Badge>;
  return (
    <img
      src={url}
      alt={name}
      className={small ? 'size-12 rounded-badge object-cover' : 'max-h-40 rounded-control'}
    />
  );
}

interface AddFilesProps {
  readonly takes: readonly FileKind[];
  readonly onFiles: (files: readonly File[]) => void;
  readonly onImage: (image: SentFile) => void;
}

interface AddButtonProps {
  readonly icon: 'attach' | 'link';
  readonly label: string;
  readonly onClick: () => void;
}

/** On a phone the icon stands alone. */
const AddButton = ({ icon, label, onClick }: AddButtonProps): ReactNode => (
  <Button icon={icon} className="max-sm:gap-0" aria-label={label} onClick={onClick}>
    <span className="max-sm:hidden">{label}</span>
  </Button>
);

function AddFiles({ takes, onFiles, onImage }: AddFilesProps): ReactNode {
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
        accept={takes.map((kind) => typesOf[kind]).join(',')}
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <AddButton icon="attach" label={chat.attach} onClick={() => input.current?.click()} />
      {!takes.includes('image') ? null : address === undefined ? (
        <AddButton icon="link" label={chat.addUrl} onClick={() => setAddress('')} />
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
