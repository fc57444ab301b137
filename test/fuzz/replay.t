# The fuzz targets over their seeds and the public data, without a fuzzer.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1
for f in json yaml re expr csv tmpl bpe diff schema http wire frame rpc client evalclient ws web \
    journal merge results sessions records settings lsp markdown mock git inflate
do
	ok "$f: seeds" ${WRAP-} "$BUILD/$f" "test/fuzz/corpus/$f"
done
if [ -d "$CORPUS/json" ]
then
	ok 'json: JSONTestSuite' ${WRAP-} "$BUILD/json" "$CORPUS/json/parsing"
	ok 'yaml: JSONTestSuite' ${WRAP-} "$BUILD/yaml" "$CORPUS/json/parsing"
	ok 'markdown: skills' ${WRAP-} "$BUILD/markdown" "$CORPUS"/skills/*/skills/*/SKILL.md
	ok 'yaml: yaml-test-suite' ${WRAP-} "$BUILD/yaml" "$CORPUS"/yaml/cases/*/in.yaml
else
	skip "no corpus in $CORPUS"
fi
done_testing
