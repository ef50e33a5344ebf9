// A separate file, because the page's Content-Security-Policy forbids inline scripts.
globalThis.Scalar.createApiReference('#viewer', { url: '/openapi.json', withDefaultFonts: false })
