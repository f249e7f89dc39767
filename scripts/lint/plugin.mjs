/** The project's own lint rules. */
import noPackedSpread from './no-packed-spread.mjs';
import noTimedWait from './no-timed-wait.mjs';
import testAsserts from './test-asserts.mjs';
import uniqueTitles from './unique-titles.mjs';

export default {
  meta: { name: 'derbench' },
  rules: {
    'no-packed-spread': noPackedSpread,
    'no-timed-wait': noTimedWait,
    'test-asserts': testAsserts,
    'unique-titles': uniqueTitles,
  },
};
