const firstUser = `user=$(tollgate user list | grep -o 'usr_\\w*' | head -1)`;
const lastUser = `user=$(tollgate user list | grep -o 'usr_\\w*' | tail -1)`;
const lastKey = `key=$(tollgate key list | grep -o 'key_\\w*' | tail -1)`;

/**
 * By command: lines for a shell that work as they are, where the files that they name are there.
 */
export const commandExamples: Readonly<Record<string, readonly string[]>> = {
  serve: ['tollgate serve --config tollgate.yaml', 'DEEPSEEK_API_KEY=sk-1 tollgate serve --port 0'],
  start: ['tollgate start --port 9000'],
  demo: ['tollgate demo', 'tollgate demo --port 9000 --faults'],
  sim: ['tollgate sim --port 9090'],
  init: ['tollgate init', 'tollgate init gateway.yaml --yes --name Ada'],
  status: ['tollgate status', 'tollgate status --json | jq .running'],
  logs: ['tollgate logs --since 24h --status 5xx', 'tollgate logs --follow'],
  usage: ['tollgate usage --since 7d', 'tollgate usage --by user --since 2026-11-01 --limit 10'],
  'user create': [
    'tollgate user create --name Ada',
    'tollgate user create --name Grace --role operator',
  ],
  'user credit': [
    firstUser,
    'tollgate user credit --user "$user" --amount 10.00 --reason "first top-up"',
  ],
  'user debit': [
    firstUser,
    'tollgate user debit --user "$user" --amount 2.50 --reason "credited twice"',
  ],
  'user list': ['tollgate user list', "tollgate user list --json | jq -r '.[].name'"],
  'user suspend': [lastUser, 'tollgate user suspend "$user" --reason "unpaid invoice"'],
  'user resume': [lastUser, 'tollgate user resume "$user" --reason "invoice paid"'],
  'key create': [
    firstUser,
    'tollgate key create --user "$user" --group default --name ci --limit 5.00 --daily-limit 1.00',
  ],
  'key limit': [lastKey, 'tollgate key limit "$key" --daily-limit 2.00'],
  'key list': ['tollgate key list'],
  'key disable': [lastKey, 'tollgate key disable "$key"'],
  'key enable': [lastKey, 'tollgate key enable "$key"'],
  'key rotate': [lastKey, 'tollgate key rotate "$key" --grace 24h'],
  'key end-old-secret': [lastKey, 'tollgate key end-old-secret "$key"'],
  'key delete': [lastKey, 'tollgate key delete "$key"'],
  'channel list': ['tollgate channel list'],
  'channel test': [
    'tollgate channel test deepseek',
    'tollgate channel test deepseek --model deepseek-chat --prompt "Say hello."',
  ],
  'model list': ['tollgate model list', 'tollgate model list --all'],
  'order list': ['tollgate order list --since 7d', 'tollgate order list --state waiting'],
  'order unmatched': ['tollgate order unmatched', 'tollgate order unmatched --since 30d --json'],
  link: [firstUser, 'tollgate link --user "$user"'],
  check: ['tollgate check', 'tollgate check --json | jq .ok'],
  migrate: ['tollgate migrate'],
  backup: ['tollgate backup "tollgate-$(date +%F).db"'],
  'config check': ['tollgate config check tollgate.yaml'],
  'prices import': [
    'tollgate prices import prices.json --dry-run',
    'tollgate prices import prices.json --rate 7.2',
  ],
  'import new-api': [
    'tollgate import new-api one-api.db',
    'tollgate import new-api one-api.db --as old --apply',
  ],
  'import litellm': [
    'tollgate import litellm litellm.yaml',
    'tollgate import litellm litellm.yaml --out from-litellm.yaml',
  ],
  completion: [
    '# For this bash:',
    'source <(tollgate completion bash)',
    '# For each new bash:',
    "echo 'source <(tollgate completion bash)' >> ~/.bashrc",
    '# For each new zsh, where compinit runs before this line:',
    "echo 'source <(tollgate completion zsh)' >> ~/.zshrc",
    '# For each new fish:',
    'mkdir -p ~/.config/fish/completions',
    'tollgate completion fish > ~/.config/fish/completions/tollgate.fish',
  ],
};
