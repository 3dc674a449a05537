import type { ReactNode } from 'react';
import type { FailedRequest } from '../../src/console/contract.ts';
import { DocsLink } from '../components/docs-link.tsx';

/** The error code; the refusal's name where it has none; null where there was no error. */
export const codeOf = ({ code, outcome, message }: FailedRequest): string | null =>
  code ?? (message === null ? null : outcome);

/** The error code, with the chapter that explains it. */
export function ErrorCode({ request }: { readonly request: FailedRequest }): ReactNode {
  const code = codeOf(request);
  return (
    code !== null && (
      <DocsLink to="errors" heading={request.outcome}>
        <span className="font-mono break-all">{code}</span>
      </DocsLink>
    )
  );
}
