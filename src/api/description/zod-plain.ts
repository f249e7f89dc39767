import { z } from 'zod';

/** Not enumerable: of members that can be enumerated zod gives every schema a bound copy. */
const plain: PropertyDescriptor = {
  value(this: z.ZodType) {
    return this;
  },
};

/**
 * In the place of `zod.ts` in the build, where the description is a finished file: what `.openapi()` says is not kept,
 * which saves a second copy of most schemas. The prototypes of zod's types do not inherit from each other.
 */
for (const [name, type] of Object.entries<unknown>(z))
  if (name.startsWith('Zod') && typeof type === 'function') Object.defineProperty(type.prototype, 'openapi', plain);

export { z };
