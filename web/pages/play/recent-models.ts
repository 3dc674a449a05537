const place = 'tollgate_recent_models';
const recentMax = 6;

/** The models that this browser tried, the last first. */
export function recentModels(): readonly string[] {
  return (localStorage.getItem(place) ?? '').split('\n').filter(Boolean);
}

export function rememberModel(id: string): void {
  const others = recentModels().filter((each) => each !== id);
  localStorage.setItem(place, [id, ...others].slice(0, recentMax).join('\n'));
}
