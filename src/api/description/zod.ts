import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

// Schemas call `.openapi()` while their modules load: every schema file imports `z` from here.
extendZodWithOpenApi(z);

export { z };
