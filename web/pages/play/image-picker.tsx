import { type ReactNode, useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { fileLimit, filesOf, takeFiles } from './files.ts';
import type { SentFile } from './turns.ts';

interface ImagePickerProps {
  readonly label: string;
  readonly choose: string;
  readonly image: SentFile | undefined;
  readonly onChange: (image: SentFile | undefined) => void;
}

/** Chooses one image, by file, drop or paste. */
export function ImagePicker({ label, choose, image, onChange }: ImagePickerProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const input = useRef<HTMLInputElement>(null);
  const [unfit, setUnfit] = useState<string>();
  const take = async (files: readonly File[]) => {
    const taken = await takeFiles(files.slice(0, 1), ['image']);
    const [bad] = taken.unfit;
    setUnfit(
      bad &&
        (bad.kind === 'tooLarge' ? chat.tooLarge(bad.name, fileLimit) : chat.notImage(bad.name)),
    );
    if (taken.files[0]) onChange(taken.files[0]);
  };
  return (
    <div
      role="group"
      aria-label={label}
      className="flex flex-col gap-1"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(filesOf(event.dataTransfer));
      }}
      onPaste={(event) => void take(filesOf(event.clipboardData))}
    >
      <span className="text-table font-medium">{label}</span>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        onChange={({ target }) => {
          void take([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <div className="flex flex-wrap items-center gap-2">
        {image !== undefined && (
          <img
            src={image.url}
            alt={image.name}
            className="size-12 rounded-control border border-line object-cover"
          />
        )}
        <Button icon="plus" onClick={() => input.current?.click()}>
          {choose}
        </Button>
        {image !== undefined && (
          <IconButton
            icon="close"
            label={chat.remove(image.name)}
            onClick={() => onChange(undefined)}
          />
        )}
      </div>
      {unfit !== undefined && (
        <p role="alert" className="text-caption text-bad">
          {unfit}
        </p>
      )}
    </div>
  );
}
