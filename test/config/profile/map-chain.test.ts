import { expect } from 'chai';
import { issueLines, run } from '../support.ts';

const files = (text: string) => ({ files: { '/site/p.yaml': text } });
const chainOf = (text: string, ...flags: readonly string[]) =>
  run(['-f', 'p.yaml', ...flags], files(text)).devices[0]?.profile.map.chain;
const refused = (text: string, ...flags: readonly string[]) => issueLines(['-f', 'p.yaml', ...flags], files(text));

describe('device profile: chain', () => {
  it('is a list of numbers, sizes and meters', () => {
    expect(
      chainOf(`
chain:
  - 103
  - { model: 705, curves: 2, points: 20 }
  - { model: 711 }
  - { meter: 203 }
  - { meter: 211, of: generation, maker: Maker, model_name: M 1, serial: S1 }
`),
    ).to.deep.equal([
      { model: 103 },
      { model: 705, curves: 2, points: 20 },
      { model: 711 },
      { meter: 203, of: 'site' },
      { meter: 211, of: 'generation', maker: 'Maker', modelName: 'M 1', serial: 'S1' },
    ]);
    expect(chainOf('layout: both')).to.equal(undefined);
  });

  const list = '201, 202, 203, 211, 212, 213';
  const rows: readonly (readonly [string, string, string])[] = [
    ['another meter', 'chain: [103, { meter: 204 }]', `chain[1].meter: given 204; allowed: ${list}`],
    ['another flow', 'chain: [{ meter: 203, of: grid }]', 'chain[0].of: given "grid"; allowed: site, generation, load'],
    ['one set', 'chain: [{ model: 705, curves: 1 }]', 'chain[0].curves: given 1; allowed: a whole number from 2 to 10'],
    [
      '11 sets',
      'chain: [{ model: 705, curves: 11 }]',
      'chain[0].curves: given 11; allowed: a whole number from 2 to 10',
    ],
    [
      'no point',
      'chain: [{ model: 705, points: 0 }]',
      'chain[0].points: given 0; allowed: a whole number from 1 to 20',
    ],
    [
      '21 points',
      'chain: [{ model: 705, points: 21 }]',
      'chain[0].points: given 21; allowed: a whole number from 1 to 20',
    ],
    ['model 0', 'chain: [0]', 'chain[0]: given 0; allowed: a whole number from 1 to 65534, or a mapping'],
    [
      'a word',
      'chain: [abc]',
      'chain[0]: given "abc"; allowed: a model number, a mapping with model, or a mapping with meter',
    ],
    ['nothing', 'chain: []', 'chain: given []; allowed: a list of 1 to 60 entries'],
    [
      'a model that is a meter',
      'chain: [{ model: 103, meter: 203 }]',
      'chain[0]: given {"model":103,"meter":203}; allowed: a model number, a mapping with model, or a mapping with meter',
    ],
    [
      'neither model nor meter',
      'chain: [{ curves: 3 }]',
      'chain[0]: given {"curves":3}; allowed: a model number, a mapping with model, or a mapping with meter',
    ],
    [
      'a flow of a model',
      'chain: [{ model: 103, of: site }]',
      'chain[0].of: given "site"; allowed: beside meter alone',
    ],
    ['sets of a meter', 'chain: [{ meter: 203, curves: 3 }]', 'chain[0].curves: given 3; allowed: beside model alone'],
    ['a misspelt member', 'chain: [{ meter: 203, makr: x }]', 'chain[0].makr: unknown key; nearest known: maker'],
    [
      'a text that is too long',
      `chain: [{ meter: 203, maker: ${'é'.repeat(17)} }]`,
      `chain[0].maker: given "${'é'.repeat(17)}"; allowed: text of 1 to 32 bytes`,
    ],
    [
      'four meters',
      'chain: [{ meter: 203 }, { meter: 203 }, { meter: 203 }, { meter: 203 }]',
      'chain: given [{"meter":203},{"meter":203},{"meter":203},{"meter":203}]; allowed: a list with up to 3 meters',
    ],
    ['a layout beside it', 'chain: [103]\nlayout: classic', 'layout: given beside chain; allowed: one of the two'],
    ['float beside it', 'chain: [103]\nfloat: false', 'float: given beside chain; allowed: one of the two'],
    [
      'hidden models beside it',
      'chain: [103]\nhidden_models: [121]',
      'hidden_models: given beside chain; allowed: one of the two',
    ],
  ];
  for (const [title, text, line] of rows) {
    it(`refuses ${title}`, () => {
      expect(refused(text)).to.deep.equal([`p.yaml: ${line}`]);
    });
  }

  it('stands whatever --map_layout and --map_float say, which is a line of the log', () => {
    const config = run(['-f', 'p.yaml', '--map_layout', 'both', '--map_float', 'yes'], files('chain: [103]'));
    const { map } = config.devices[0]!.profile;
    expect([map.chain, map.layout, map.float]).to.deep.equal([[{ model: 103 }], 'current', false]);
    expect(config.unused).to.deep.equal([
      'map_layout is given and has no effect: the profiles of all devices have a chain',
      'map_float is given and has no effect: the profiles of all devices have a chain',
    ]);
  });

  it('does not count as a map that --map_float changes', () => {
    const site = 'devices: [{ device_type: PV }, { device_type: PV, profile: p.yaml }]';
    const config = run(['--config', 'site.yaml', '--map_float', 'yes'], {
      files: { ...files('chain: [103]').files, '/site/site.yaml': site },
    });
    expect(config.devices.map(({ profile: { map } }) => map.chain === undefined)).to.deep.equal([true, false]);
    expect(config.unused).to.deep.equal([
      'map_float is given and has no effect: no device has map_layout classic or both, and there is no meter',
    ]);
  });

  it('leaves --map_float to the meter of the connection point', () => {
    const flags = ['-f', 'p.yaml', '--map_float', 'yes', '--meter_unit', '240'];
    expect(run(flags, files('chain: [103]')).unused).to.deep.equal([]);
  });
});
