import type { ReactNode } from 'react';

/** Stands where there is nothing to show. */
export const absent: ReactNode = <span className="text-faint">—</span>;
