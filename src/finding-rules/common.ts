/** Rules for peers of several protocols. */
import type { RuleTable } from '../core/findings/rule.ts';

export const commonRules = {
  writers_fight: {
    severity: 'remark',
    basis: 'practice',
    clause: 'Two masters of one device: each takes the limit of the other for its own',
    title: 'Two peers write different values to one point in turn',
    situation: 'Another peer has written the same point, and this one writes it next.',
    proof: 'The two have changed the value in turn, as often as `turns` within `window_min`.',
    consequence: 'A device jumps between two set-points, and neither peer gets what it asks for.',
    trap: 'A person who writes over REST or on the dashboard is no peer, and a reversion or another writer in between begins anew.',
    params: {
      turns: { default: 6, min: 2, max: 1000, unit: null, title: 'Turns from one peer to the other' },
      window_min: { default: 10, min: 1, max: 1440, unit: 'min', title: 'Time in which they count' },
    },
  },
} as const satisfies RuleTable;
