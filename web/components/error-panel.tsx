import { useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';
import { Button, TextLink, buttonLook, linkLook } from './button.tsx';
import { CopyText } from './copy.tsx';
import { Icon } from './icon.tsx';
import { PathLink } from './path-link.tsx';
import { useToast } from './toast.tsx';

/** Returns a function that puts an error into words for the user, by its code. */
export function useErrorText(): (error: unknown) => string {
  const { errors } = useWords(sharedWords);
  return (error) => {
    if (!(error instanceof ApiError)) return errors.notDone;
    return errors.codes[error.code] ?? (error.message || errors.notDone);
  };
}

/** Returns a function that shows the error of the user's own action in a toast. */
export function useErrorToast(): (error: unknown) => void {
  const errorText = useErrorText();
  const toast = useToast();
  return (error) => toast({ tone: 'failed', text: errorText(error) });
}

interface ErrorPanelProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** Replaces the panel that failed, never the page. */
export function ErrorPanel({ error, onRetry }: ErrorPanelProps): ReactNode {
  const words = useWords(sharedWords);
  const errorText = useErrorText();
  const gap = useSentenceGap();
  if (error instanceof ApiError && error.code === 'operator_only') return <OperatorsOnly />;
  if (error instanceof ApiError && error.code === 'offline') return <Unreachable />;
  if (error instanceof ApiError && error.code === 'invalid') return <WrongAddress />;
  return (
    <Failure
      text={
        <>
          {words.errors.failed}
          {gap}
          <span className="text-muted">{errorText(error)}</span>
        </>
      }
    >
      {error instanceof ApiError && error.requestId !== undefined && (
        <CopyText text={error.requestId} label={words.errors.requestId} className="max-w-64" />
      )}
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          {words.errors.retry}
        </Button>
      )}
    </Failure>
  );
}

function Failure({ text, children }: EmptyStateProps): ReactNode {
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-4 py-8 text-center">
      <Icon name="failed" className="size-5 text-bad" />
      <p className="text-body">{text}</p>
      {children}
    </div>
  );
}

/** What a page loads is asked for by its address alone: an old or edited link. */
function WrongAddress(): ReactNode {
  const { actions, errors } = useWords(sharedWords);
  const { pathname, searchStr: search } = useLocation();
  return (
    <Failure text={errors.address}>
      {search !== '' && (
        <PathLink path={pathname} className={buttonLook({})}>
          {actions.clearFilter}
        </PathLink>
      )}
    </Failure>
  );
}

/** It goes away by itself: what pages show is fetched again once the server answers. */
function Unreachable(): ReactNode {
  const words = useWords(sharedWords);
  return <Failure text={words.live.unreachable} />;
}

function OperatorsOnly(): ReactNode {
  const words = useWords(sharedWords);
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <Icon name="shield" className="size-5 text-muted" />
      <p>{words.operatorOnly}</p>
      <TextLink to="/" className={linkLook}>
        {words.nav.home}
      </TextLink>
    </div>
  );
}

interface EmptyStateProps {
  readonly text: ReactNode;
  readonly children?: ReactNode;
}

/** Says which content would be here, and how to get it. */
export function EmptyState({ text, children }: EmptyStateProps): ReactNode {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-10 text-center">
      <p className="text-body text-muted">{text}</p>
      {children}
    </div>
  );
}
