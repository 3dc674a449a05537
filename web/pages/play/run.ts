import { useEffect, useRef, useState } from 'react';
import { type SendOptions, open } from '../../api/client.ts';
import { type Charged, chargeOf } from './charge.tsx';
import { rememberModel } from './recent-models.ts';

/** One request of the playground: what came, or why nothing did, and what it cost. */
export interface Run<Answer> {
  readonly state: 'none' | 'running' | 'done' | 'failed';
  readonly answer: Answer | undefined;
  readonly error: unknown;
  readonly charge: Charged;
}

export interface Running<Answer> {
  readonly run: Run<Answer>;
  readonly start: (path: string, options: Pick<SendOptions, 'body' | 'form'>) => Promise<void>;
  readonly stop: () => void;
}

interface Paying {
  readonly keyId: string;
  readonly model: { readonly id: string };
}

/** One request at a time, paid by the key. It ends with the page. */
export function useRun<Answer>(
  { keyId, model }: Paying,
  read: (response: Response) => Promise<Answer>,
): Running<Answer> {
  const nothing = { answer: undefined, error: undefined, charge: undefined } as const;
  const [run, setRun] = useState<Run<Answer>>({ state: 'none', ...nothing });
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const start = async (path: string, options: Pick<SendOptions, 'body' | 'form'>) => {
    const mine = new AbortController();
    leaving.current = mine;
    rememberModel(model.id);
    setRun({ state: 'running', ...nothing });
    try {
      const headers = { 'x-paying-key': keyId };
      const response = await open('POST', path, { ...options, headers, signal: mine.signal });
      const done = { ...nothing, state: 'done', answer: await read(response) } as const;
      setRun({ ...done, charge: 'pending' });
      setRun({ ...done, charge: await chargeOf(response.headers.get('x-request-id') ?? '') });
    } catch (error) {
      setRun(
        mine.signal.aborted
          ? { state: 'none', ...nothing }
          : { ...nothing, state: 'failed', error },
      );
    }
  };
  return { run, start, stop: () => leaving.current?.abort() };
}
