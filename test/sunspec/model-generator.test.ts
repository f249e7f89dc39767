import { expect } from 'chai';
import { ModelProblems, renderModel } from '../../scripts/generate-models.ts';
import type { JsonGroup, JsonModel } from '../../scripts/generate-models.ts';

describe('model generator', () => {
  const model = (points: JsonGroup['points'], id = 9): JsonModel => ({
    id,
    group: { name: 'demo', type: 'group', points },
  });
  const anyLabel = (_id: number, path: string): string => `label of ${path}`;

  it('keeps facts and drops the prose of the definition', () => {
    const text = renderModel(
      model([
        {
          name: 'P',
          type: 'enum16',
          size: 1,
          sf: -2,
          units: 'W',
          access: 'RW',
          mandatory: 'M',
          static: 'S',
          standards: ['IEEE 1547-2018'],
          symbols: [{ name: 'TWO WORDS', value: 3 }],
          label: 'Their label',
          desc: 'Their sentence',
        },
      ]),
      anyLabel,
    );
    expect(text).to.contain(
      "{ name: 'P', type: 'enum16', size: 1, sf: -2, units: 'W', access: 'RW', mandatory: true, static: true, " +
        "profile1547: true, label: 'label of P', symbols: { 'TWO WORDS': 3 } },",
    );
    expect(text).not.to.contain('Their');
  });

  it('leaves out what is the default', () => {
    const text = renderModel(
      model([{ name: 'P', type: 'uint16', size: 1, access: 'R', mandatory: 'O', static: 'D', standards: ['other'] }]),
      anyLabel,
    );
    expect(text).to.contain("    { name: 'P', type: 'uint16', size: 1, label: 'label of P' },\n");
  });

  it('escapes quotes and backslashes', () => {
    const text = renderModel(model([{ name: 'P', type: 'uint16', size: 1 }]), () => "a 'b' \\");
    expect(text).to.contain(String.raw`label: 'a \'b\' \\'`);
  });

  it('lists every missing label at once', () => {
    const points = [
      { name: 'P', type: 'uint16', size: 1 },
      { name: 'Q', type: 'uint16', size: 1 },
    ];
    expect(problemsOf(() => renderModel(model(points), () => undefined))).to.deep.equal([
      '9: no label in scripts/model-labels.ts',
      '9.P: no label in scripts/model-labels.ts',
      '9.Q: no label in scripts/model-labels.ts',
    ]);
  });

  it('refuses unknown types and marks without a point', () => {
    const points = [{ name: 'P', type: 'uint17', size: 1 }];
    expect(problemsOf(() => renderModel(model(points, 715), anyLabel))).to.deep.equal([
      '715.P: unknown type uint17',
      '715.AlarmReset: marked in the generator, absent from the model',
    ]);
  });
});

function problemsOf(action: () => unknown): readonly string[] {
  try {
    action();
  } catch (error) {
    if (error instanceof ModelProblems) return error.problems;
    throw error;
  }
  return [];
}
