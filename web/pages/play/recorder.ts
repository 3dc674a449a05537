import { useEffect, useRef, useState } from 'react';

export interface Recording {
  readonly file: File;
  /** Undefined: not known yet. */
  readonly seconds: number | undefined;
}

interface Recorder {
  /** `refused`: the user or the browser lets no page listen. */
  readonly state: 'off' | 'on' | 'refused';
  readonly seconds: number;
  readonly start: () => Promise<void>;
  readonly stop: () => void;
}

/** Browsers let pages listen over https, and on the machine itself. */
export const canRecord = (): boolean =>
  typeof MediaRecorder !== 'undefined' && 'mediaDevices' in navigator;

/** Records the microphone until it is stopped, or the page is left. */
export function useRecorder(onDone: (recording: Recording) => void): Recorder {
  const [state, setState] = useState<Recorder['state']>('off');
  const [seconds, setSeconds] = useState(0);
  const recorder = useRef<MediaRecorder>(undefined);
  useEffect(() => {
    if (state !== 'on') return undefined;
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, [state]);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
      silence(recorder.current?.stream);
    };
  }, []);
  const start = async () => {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      // The page may be left while the browser asks the user.
      if (left.current) return silence(stream);
      const begunMs = performance.now();
      const made = new MediaRecorder(stream);
      const pieces: Blob[] = [];
      made.addEventListener('dataavailable', ({ data }) => pieces.push(data));
      made.addEventListener('stop', () => {
        silence(stream);
        setState('off');
        onDone({
          file: fileOf(pieces, made.mimeType),
          seconds: (performance.now() - begunMs) / 1_000,
        });
      });
      made.start();
      recorder.current = made;
      setSeconds(0);
      setState('on');
    } catch {
      setState('refused');
    }
  };
  return { state, seconds, start, stop: () => recorder.current?.stop() };
}

/** Lets go of the microphone. */
function silence(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

/** `audio/webm;codecs=opus` is a file `recording.webm`. */
function fileOf(pieces: readonly Blob[], mimeType: string): File {
  const type = mimeType.split(';', 1)[0] || 'audio/webm';
  return new File([...pieces], `recording.${type.split('/')[1] ?? 'webm'}`, { type });
}
