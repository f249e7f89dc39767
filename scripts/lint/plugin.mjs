/** The project's own lint rules. */
import noPackedSpread from './no-packed-spread.mjs';
import noTimedWait from './no-timed-wait.mjs';
import plainComments from './plain-comments.mjs';
import plainNames from './plain-names.mjs';
import testAsserts from './test-asserts.mjs';
import uniqueTitles from './unique-titles.mjs';

export default {
  meta: { name: 'derbench' },
  rules: {
    'no-packed-spread': noPackedSpread,
    'no-timed-wait': noTimedWait,
    'plain-comments': plainComments,
    'plain-names': plainNames,
    'test-asserts': testAsserts,
    'unique-titles': uniqueTitles,
  },
};
