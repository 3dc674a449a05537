import {
  bytesOnly,
  format,
  functionTool,
  messages,
  named,
  part,
  penalties,
  stop,
  streamOptions,
  usual,
} from './chat-pieces.ts';
import {
  anything,
  either,
  type Endpoint,
  flag,
  list,
  map,
  type Members,
  number,
  object,
  one,
  tagged,
  text,
  whole,
} from './shape.ts';

// Servers at home. vLLM and llama.cpp read what they know and ignore the rest: what they ignore is
// lost, so the table says what they know.

const chat = /\/chat\/completions$/;
const functions = list(tagged('type', { function: functionTool() }));
const thought: Members = { reasoning_content: text(), reasoning: text() };

const ollamaPage = 'github.com/ollama/ollama docs/openai.md and openai/openai.go, 2026';

export const ollama: Endpoint = {
  path: chat,
  source: ollamaPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool'],
        // `images` is recorded (ollama-0021), accepted.
        all: { name: text(), images: list(anything) },
        user: { image_url: bytesOnly },
        // `reasoning` since it names it so in its answers; read back by its chat.
        assistant: { reasoning: text() },
        call: { index: whole(0) },
      }),
      max_completion_tokens: whole(1),
      seed: whole(),
      stop: stop(Infinity),
      stream_options: streamOptions,
      response_format: format('text', 'json_object', 'json_schema'),
      tools: functions,
      reasoning: object({ effort: one('high', 'medium', 'low', 'none', 'max') }),
      reasoning_effort: one('high', 'medium', 'low', 'none', 'max'),
      logprobs: flag,
      top_logprobs: whole(0, 20),
      // Ignored, by its page; recorded ollama-0020, accepted.
      tool_choice: one('auto'),
      user: text(),
    },
    'model',
    'messages',
  ),
};

const vllmPage =
  'docs.vllm.ai/en/latest/serving/openai_compatible_server; vllm/entrypoints/openai/chat_completion/protocol.py, 2026';

export const vllm: Endpoint = {
  path: chat,
  source: vllmPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool'],
        all: { name: text() },
        user: {
          image_url: part.image_url(),
          video_url: part.video_url,
          input_audio: part.input_audio('wav', 'mp3', 'flac', 'ogg'),
          audio_url: map(),
          file: part.file(),
        },
        tool: { text: part.text(), image_url: part.image_url() },
        assistant: { ...thought, refusal: text() },
        call: { index: whole(0) },
      }),
      ...Object.fromEntries(
        (
          'use_beam_search top_k min_p repetition_penalty length_penalty stop_token_ids include_stop_str_in_output ignore_eos min_tokens skip_special_tokens ' +
          'spaces_between_special_tokens truncate_prompt_tokens prompt_logprobs allowed_token_ids bad_words echo add_generation_prompt continue_final_message ' +
          'add_special_tokens documents chat_template chat_template_kwargs mm_processor_kwargs structured_outputs guided_json guided_regex guided_choice ' +
          'guided_grammar priority request_id logits_processors return_tokens_as_token_ids return_token_ids cache_salt kv_transfer_params vllm_xargs include_reasoning thinking_token_budget'
        )
          .split(' ')
          .map((name) => [name, anything]),
      ),
      logit_bias: map(number(-100, 100)),
      logprobs: flag,
      top_logprobs: whole(0),
      max_completion_tokens: whole(1),
      n: whole(1),
      response_format: format('text', 'json_object', 'json_schema'),
      reasoning_effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
      seed: whole(),
      stop: stop(Infinity),
      stream_options: object({ include_usage: flag, continuous_usage_stats: flag }),
      tools: functions,
      tool_choice: either(one('none', 'auto', 'required'), named),
      parallel_tool_calls: flag,
      user: text(),
    },
    'messages',
  ),
};

const llamaPage = 'github.com/ggml-org/llama.cpp tools/server/README.md, 2026';

export const llamacpp: Endpoint = {
  path: chat,
  source: llamaPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool'],
        all: { name: text() },
        user: { image_url: part.image_url(), input_audio: part.input_audio('wav', 'mp3') },
        assistant: { reasoning_content: text() },
        call: { index: whole(0) },
      }),
      ...Object.fromEntries(
        (
          'top_k min_p typical_p tfs_z dynatemp_range dynatemp_exponent repeat_penalty repeat_last_n dry_multiplier dry_base xtc_probability xtc_threshold ' +
          'mirostat mirostat_tau mirostat_eta grammar json_schema samplers cache_prompt id_slot n_predict n_keep ignore_eos n_probs min_keep timings_per_token ' +
          'post_sampling_probs return_tokens reasoning_format chat_template_kwargs reasoning_budget thinking_budget_tokens parse_tool_calls add_generation_prompt response_fields lora'
        )
          .split(' ')
          .map((name) => [name, anything]),
      ),
      max_completion_tokens: whole(-1),
      logit_bias: anything,
      logprobs: flag,
      top_logprobs: whole(0),
      n: whole(1),
      seed: whole(),
      stop: stop(Infinity),
      stream_options: streamOptions,
      response_format: either(
        format('text', 'json_object', 'json_schema'),
        object({ type: one('json_object', 'json_schema'), schema: map() }, 'type'),
      ),
      reasoning_effort: text(),
      tools: functions,
      tool_choice: either(one('none', 'auto', 'required'), named),
      parallel_tool_calls: flag,
      user: text(),
    },
    'messages',
  ),
};
