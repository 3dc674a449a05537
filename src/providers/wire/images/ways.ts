import type { Call, PictureAdapter } from '../../adapter.ts';

/** For models that are asked in one way whether they get pictures or not. */
export const everyWay = <Adapter>(adapter: Adapter) => ({
  images: adapter,
  image_edits: adapter,
  image_variations: adapter,
});

/** The one adapter or the other, for each call; `fault` reads the refusals of all of them. */
export const perModel = (
  of: (call: Call) => PictureAdapter,
  fault: PictureAdapter['fault'],
): PictureAdapter => ({
  ask: (call) => of(call).ask(call),
  parts: (call) => of(call).parts?.(call),
  misfit: (call) => of(call).misfit?.(call),
  read: (reply, contentType, call) => of(call).read(reply, contentType, call),
  answersLater: (call) => of(call).answersLater?.(call) ?? false,
  fault,
});
