import { useEffect, useMemo } from 'react';

/** An address for what is in memory, for as long as it is shown. */
export function useAddress(blob: Blob | undefined): string | undefined {
  const address = useMemo(() => blob && URL.createObjectURL(blob), [blob]);
  useEffect(() => () => void (address && URL.revokeObjectURL(address)), [address]);
  return address;
}
