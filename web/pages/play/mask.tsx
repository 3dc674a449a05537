import { type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { readFile, sidesOf } from './files.ts';
import type { SentFile } from './turns.ts';

/** The part of an image that an edit may change. */
export interface Mask {
  /** The file that the code sample names. */
  readonly file: SentFile;
  /** As a data URL of the image's size: transparent where the edit may change it. */
  readonly png: () => Promise<string>;
}

interface Stroke {
  readonly width: number;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface MaskEditorProps {
  readonly input: SentFile;
  readonly mask: Mask | undefined;
  readonly onChange: (mask: Mask | undefined) => void;
}

const brushes = [16, 32, 64, 128] as const;
const painted = { name: 'mask.png', type: 'image/png', url: '' };

/** A brush over the image, or a mask as a file for users without a pointer. */
export function MaskEditor({ input, mask, onChange }: MaskEditorProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  const [sides, setSides] = useState<{ readonly width: number; readonly height: number }>();
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [brush, setBrush] = useState<number>(brushes[1]);
  const file = useRef<HTMLInputElement>(null);
  useEffect(() => {
    void sidesOf(input.url).then(setSides);
  }, [input.url]);
  const paint = (next: readonly Stroke[]) => {
    setStrokes(next);
    onChange(
      next.length === 0 || sides === undefined
        ? undefined
        : { file: painted, png: () => pngOf(next, sides) },
    );
  };
  const upload = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    const image = await readFile(chosen, chosen.name);
    setStrokes([]);
    onChange({ file: image, png: () => Promise.resolve(image.url) });
  };
  return (
    <div role="group" aria-label={words.mask} className="flex flex-col gap-2">
      <span className="text-table font-medium">{words.mask}</span>
      {sides !== undefined && (
        <Canvas input={input} sides={sides} strokes={strokes} brush={brush} onChange={paint} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <label className="flex items-center gap-2 text-table">
          <span className="text-muted">{words.brush}</span>
          <input
            type="range"
            min={0}
            max={brushes.length - 1}
            value={brushes.findIndex((size) => size === brush)}
            onChange={(event) => setBrush(brushes[Number(event.target.value)] ?? brushes[1])}
            className="w-24 accent-accent"
          />
        </label>
        {strokes.length > 0 && (
          <>
            <Button size="small" icon="back" onClick={() => paint(strokes.slice(0, -1))}>
              {words.undo}
            </Button>
            <Button size="small" look="ghost" onClick={() => paint([])}>
              {words.clearMask}
            </Button>
          </>
        )}
        <Button size="small" icon="plus" onClick={() => file.current?.click()}>
          {words.uploadMask}
        </Button>
        {mask !== undefined && mask.file !== painted && (
          <span className="text-caption">{words.maskUploaded(mask.file.name)}</span>
        )}
      </div>
      <input
        ref={file}
        type="file"
        accept="image/png"
        hidden
        onChange={({ target }) => void upload(target.files?.[0])}
      />
      <p className="text-caption text-muted">{words.maskHelp}</p>
    </div>
  );
}

interface CanvasProps {
  readonly input: SentFile;
  readonly sides: { readonly width: number; readonly height: number };
  readonly strokes: readonly Stroke[];
  readonly brush: number;
  readonly onChange: (strokes: readonly Stroke[]) => void;
}

function Canvas({ input, sides, strokes, brush, onChange }: CanvasProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drawing, setDrawing] = useState<Stroke>();
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    context.clearRect(0, 0, sides.width, sides.height);
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue(
      '--color-accent',
    );
    for (const stroke of drawing ? [...strokes, drawing] : strokes) draw(context, stroke);
  }, [strokes, drawing, sides]);
  const pointOf = ({
    currentTarget,
    clientX,
    clientY,
  }: PointerEvent): readonly [number, number] => {
    const { left, top, width } = currentTarget.getBoundingClientRect();
    const scale = sides.width / width;
    return [(clientX - left) * scale, (clientY - top) * scale];
  };
  return (
    <div className="relative max-w-sm self-start overflow-hidden rounded-control border border-line">
      <img src={input.url} alt={input.name} className="block h-auto max-w-full" />
      <canvas
        ref={canvas}
        role="img"
        aria-label={words.canvas}
        width={sides.width}
        height={sides.height}
        className="absolute inset-0 size-full cursor-crosshair touch-none opacity-60"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const scale = sides.width / event.currentTarget.getBoundingClientRect().width;
          setDrawing({ width: brush * scale, points: [pointOf(event)] });
        }}
        onPointerMove={(event) =>
          drawing && setDrawing({ ...drawing, points: [...drawing.points, pointOf(event)] })
        }
        onPointerUp={() => {
          if (drawing) onChange([...strokes, drawing]);
          setDrawing(undefined);
        }}
      />
    </div>
  );
}

function draw(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  { width, points }: Stroke,
): void {
  const [first = [0, 0]] = points;
  context.lineWidth = width;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.beginPath();
  context.moveTo(first[0], first[1]);
  for (const [x, y] of points) context.lineTo(x, y);
  context.stroke();
}

/** An opaque image, transparent where the user painted. */
async function pngOf(
  strokes: readonly Stroke[],
  { width, height }: CanvasProps['sides'],
): Promise<string> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser has no canvas');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = 'destination-out';
  for (const stroke of strokes) draw(context, stroke);
  return (await readFile(await canvas.convertToBlob({ type: 'image/png' }), 'mask.png')).url;
}
