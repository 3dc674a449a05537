import { partialsMax, words } from '../images-wish.ts';
import { imagesMax } from '../images-body.ts';
import type { Operation, Operations } from './operation.ts';
import {
  anyObject,
  answered,
  asked,
  flag,
  list,
  onlyBeside,
  passed,
  ref,
  type Schema,
  text,
  whole,
  word,
} from './schema.ts';

const said: Readonly<Record<string, string>> = {
  response_format: 'What an item holds: an address that is good for a day, or the bytes.',
  background: 'Of models that make transparent pictures.',
  output_format: 'Of models that make several.',
  moderation: 'How strict, of models that can choose.',
  style: 'Of models that know both.',
  input_fidelity: 'How close to the given pictures to stay.',
};

const prompt = text('What is to be seen. How long it may be depends on the model.', {
  minLength: 1,
});
const model = text('An image model. Absent: the gateway’s default, where there is one.', {
  minLength: 1,
});

const wishes: Readonly<Record<string, Schema>> = {
  n: whole('Pictures, 1 by default. How many at once depends on the model.', 1),
  size: text(
    '`<width>x<height>` or `auto`. Which sizes there are depends on the model; the refusal lists them.',
  ),
  quality: text('`standard` or `hd`, or what else the model has.'),
  ...Object.fromEntries(
    Object.entries(words).map(([name, known]) => [name, word(said[name] ?? '', known)]),
  ),
  output_compression: whole('Per cent, of `jpeg` and `webp`.', 0, 100),
  stream: flag('Pictures as events, with previews where the model makes them.'),
  partial_images: whole('Previews of each picture; goes with `stream`.', 0, partialsMax),
  user: text('Your name for your user.'),
};

/** What the convention has of them at each endpoint: others are passed on. */
const { moderation: _moderation, style: _style, ...ofGiven } = wishes;
const { input_fidelity: _fidelity, ...ofWords } = wishes;
const { input_fidelity: _none, ...ofVariations } = ofGiven;

/** Previews come in a stream. */
const previews = onlyBeside('partial_images', { stream: { const: true } }, { enum: [null, 0] });

const reference = passed(
  `A picture: an address, a data URL, or \`{"image_url": …}\`; up to ${imagesMax}.`,
);
const file: Schema = {
  type: 'string',
  format: 'binary',
  description: `PNG, JPEG, WebP or GIF; may be repeated, up to ${imagesMax} times.`,
};

const result = answered(
  {
    created: whole('Unix time, seconds.', 0),
    data: list(
      'One for each picture.',
      answered(
        {},
        {
          url: text('Good for a day.'),
          b64_json: text('The bytes.'),
          revised_prompt: text('What the model made of the prompt.'),
        },
      ),
    ),
  },
  { usage: anyObject('Tokens, of models that are sold by them.') },
);

const answer: Operation['answer'] = {
  'application/json': ref('ImageResult'),
  'text/event-stream': text('`…partial_image` for previews, `…completed` for each picture.'),
};

export const imageOperations: Operations = {
  'POST /images/generations': {
    id: 'createImage',
    tag: 'Images',
    summary: 'Make pictures of words',
    schemas: {
      ImageRequest: { ...asked({ prompt }, { model, ...ofWords }), allOf: [previews] },
      ImageResult: result,
    },
    body: { 'application/json': ref('ImageRequest') },
    answer,
    once: true,
  },
  'POST /images/edits': {
    id: 'editImage',
    tag: 'Images',
    summary: 'Change pictures, or make new ones of them',
    schemas: {
      ImageEditForm: asked(
        { prompt, image: file },
        {
          model,
          mask: {
            type: 'string',
            format: 'binary',
            description: 'A PNG of the same size, transparent where the picture is to change.',
          },
          ...ofGiven,
        },
      ),
      ImageEditRequest: {
        ...asked(
          { prompt },
          { model, images: reference, image: reference, mask: reference, ...ofGiven },
        ),
        allOf: [previews],
      },
    },
    body: {
      'multipart/form-data': ref('ImageEditForm'),
      'application/json': ref('ImageEditRequest'),
    },
    answer,
    once: true,
  },
  'POST /images/variations': {
    id: 'createImageVariation',
    tag: 'Images',
    summary: 'Make the same picture anew',
    schemas: {
      ImageVariationForm: asked({ image: file }, { model, ...ofVariations }),
      ImageVariationRequest: {
        ...asked({}, { model, images: reference, image: reference, ...ofVariations }),
        allOf: [previews],
      },
    },
    body: {
      'multipart/form-data': ref('ImageVariationForm'),
      'application/json': ref('ImageVariationRequest'),
    },
    answer,
    once: true,
  },
};
