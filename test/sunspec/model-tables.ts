import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { modelFile, readModelJson, renderModel } from '../../scripts/generate-models.ts';
import type { JsonGroup } from '../../scripts/generate-models.ts';
import { labelFor } from '../../scripts/model-labels.ts';

/**
 * Our table of each model against its definition: nothing but the facts, and all of them.
 * @param folder of `model_*.json`; asked by the tests
 */
export function tableTests(modelIds: readonly number[], folder: () => string): void {
  for (const id of modelIds) {
    it(`model ${id} is what the generator makes of its definition`, () => {
      const file = fileURLToPath(new URL(`../../src/sunspec/models/${modelFile(id)}`, import.meta.url));
      expect(renderModel(readModelJson(folder(), id), labelFor)).to.equal(readFileSync(file, 'utf8'));
    });

    it(`model ${id} borrows no wording`, () => {
      const plain = (text: string): string => text.trim().replace(/\.$/, '').toLowerCase();
      const compare = (path: string, theirs: { readonly label?: string; readonly desc?: string }): void => {
        const ours = labelFor(id, path) ?? '';
        if (ours.length <= 20) return;
        expect(
          [theirs.label, theirs.desc].map((text) => plain(text ?? '')),
          `${id}.${path}`,
        ).not.to.include(plain(ours));
      };
      const walk = (group: JsonGroup, prefix: string): void => {
        for (const point of group.points) compare(prefix + point.name, point);
        for (const child of group.groups ?? []) {
          compare(prefix + child.name, child);
          walk(child, `${prefix}${child.name}.`);
        }
      };
      const { group } = readModelJson(folder(), id);
      compare('', group);
      walk(group, '');
    });
  }
}
