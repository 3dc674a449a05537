/** Copies text, on plain http too, where there is no clipboard API. false: the browser refused. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'fixed -top-96';
  // Inside an open dialog, because focus cannot leave it.
  const inside =
    document.activeElement?.closest('[role="dialog"], [role="alertdialog"]') ?? document.body;
  const focused = document.activeElement;
  inside.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
