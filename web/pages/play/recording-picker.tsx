import { type ReactNode, useRef } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useAddress } from './blob-address.ts';
import { filesOf } from './files.ts';
import { type Recording, canRecord, useRecorder } from './recorder.ts';

interface RecordingPickerProps {
  readonly recording: Recording | undefined;
  readonly onChange: (recording: Recording | undefined) => void;
}

/** A recording, from the disk or the microphone. */
export function RecordingPicker({ recording, onChange }: RecordingPickerProps): ReactNode {
  const { transcription: words, chat } = useWords(playgroundWords);
  const input = useRef<HTMLInputElement>(null);
  const take = ([file]: readonly File[]) => {
    if (file !== undefined) onChange({ file, seconds: undefined });
  };
  return (
    <div
      role="group"
      aria-label={words.recording}
      className="flex flex-col gap-2"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(filesOf(event.dataTransfer));
      }}
    >
      <span className="text-table font-medium">{words.recording}</span>
      <input
        ref={input}
        type="file"
        accept="audio/*,video/mp4,video/webm"
        hidden
        onChange={({ target }) => {
          take([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button icon="plus" onClick={() => input.current?.click()}>
          {words.choose}
        </Button>
        {canRecord() && <Microphone onDone={onChange} />}
        {recording !== undefined && (
          <IconButton
            icon="close"
            label={chat.remove(recording.file.name)}
            onClick={() => onChange(undefined)}
          />
        )}
      </div>
      {recording === undefined ? (
        <p className="text-caption text-muted">{words.chooseHelp}</p>
      ) : (
        <Listen recording={recording} onChange={onChange} />
      )}
    </div>
  );
}

function Microphone({ onDone }: { readonly onDone: (recording: Recording) => void }): ReactNode {
  const { transcription: words } = useWords(playgroundWords);
  const { state, seconds, start, stop } = useRecorder(onDone);
  if (state === 'on')
    return (
      <Button icon="stop" onClick={stop}>
        {words.stopRecording(String(seconds))}
      </Button>
    );
  return (
    <>
      <Button icon="dot" onClick={() => void start()}>
        {words.record}
      </Button>
      {state === 'refused' && (
        <span role="alert" className="text-caption text-bad">
          {words.refused}
        </span>
      )}
    </>
  );
}

interface ListenProps {
  readonly recording: Recording;
  readonly onChange: (recording: Recording) => void;
}

/** Plays it; a file tells its length when the browser has read it. */
function Listen({ recording, onChange }: ListenProps): ReactNode {
  const address = useAddress(recording.file);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- the user's own recording */}
      <audio
        controls
        src={address}
        aria-label={recording.file.name}
        className="w-full"
        onLoadedMetadata={({ currentTarget: { duration } }) => {
          if (recording.seconds === undefined && Number.isFinite(duration))
            onChange({ ...recording, seconds: duration });
        }}
      />
      <bdi className="truncate text-caption text-muted">{recording.file.name}</bdi>
    </div>
  );
}
