import { tableTests } from '../sunspec/model-tables.ts';
import { describeWith, pysunspec2Models } from './support/peers.ts';

/** Inverter models of older devices, which a collection of the 700 series need not have. */
const olderModels = [101, 102, 103, 111, 112, 113];

describeWith(['pysunspec2'], 'model tables against its definitions', () => {
  let folder = '';

  before(() => {
    folder = pysunspec2Models();
  });

  tableTests(olderModels, () => folder);
});
