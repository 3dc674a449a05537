import type { ReactNode } from 'react';

export function SignInPage(): ReactNode {
  return null;
}

export function SignedInPage(): ReactNode {
  return null;
}
