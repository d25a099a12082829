// Strict and type-aware. What it does not say is left to prettier and tsc.

import tseslint from "typescript-eslint";

const layers = (folder, ...forbidden) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: { "no-restricted-imports": ["error", { patterns: forbidden }] },
});

export default tseslint.config(
  { ignores: ["build/", "dist/", "**/*.gen.ts", "**/*.mjs"] },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./src/page/tsconfig.json", "./test/tsconfig.json"],
      },
    },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-console": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": [
        "error",
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // An empty text is as good as none.
      "@typescript-eslint/prefer-nullish-coalescing": [
        "error",
        { ignorePrimitives: { string: true } },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "@typescript-eslint/prefer-readonly": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      // Fields and index signatures are told apart by tsc's noPropertyAccessFromIndexSignature.
      "@typescript-eslint/dot-notation": "off",
    },
  },
  // protocol -> common -> page or host; the page and the host know each other by messages only.
  layers("common", "**/host/**", "**/page/**", "vscode"),
  layers("page", "**/host/**", "vscode"),
  layers("host", "**/page/**"),
  // node's test runner takes promises that nobody awaits.
  { files: ["test/**/*.ts"], rules: { "@typescript-eslint/no-floating-promises": "off" } },
);
