/* SPDX-License-Identifier: ISC */
/*
 * Unicode tables, and the functions that read them.
 *
 * Categories and scripts are texts that cover all code points in order: a
 * code (one letter for a category, two for a script, "-" for no script) and
 * the length of the run in decimal, if it is not 1.  "=" is a run in which Lu
 * and Ll alternate.  A lookup finds the row by its first code point and reads
 * the row to the run.
 *
 * A case row gives the distance to the lower and upper case of its code
 * points.  In a row of pairs (P), upper and lower case alternate.  `orbits`
 * lists the steps of unicode_fold_next() where the case mappings do not lead
 * around the orbit.  ASCII is not in case_rows.
 */
#include "lib/unicode.h"

#include <string.h>

#include "base/base.h"

#define P INT32_MAX		/* a row of pairs */
#define SCRIPT UINT32_C(0x80000000)	/* in a class; else it is a mask */

struct runs {
	uint32_t first;
	const char *text;
};

struct case_row {
	uint32_t lo, n;
	int32_t lower, upper;
};

struct orbit {
	uint32_t from, to;
};

struct range {
	uint32_t lo, hi;
};

/* Begin of generated tables. */
/*
 * Written by util/unicode.py from the Unicode Character Database 15.0.0,
 * (c) Unicode, Inc., under the Unicode licence (Unicode-DFS-2016).
 */

static const char category_names[] =
	"Cn Cc Zs Po Sc Ps Pe Sm Pd Nd Lu Sk Pc Ll So Lo Pi Cf No Pf Lt Lm Mn Me Mc Nl Zl Zp "
	"Cs Co ";

static const struct runs categories[] = {
	{ 0x00000, "b32cd3ed3fgdhdid2j10d2h3d2k26fdglmln26fhghb33cde4odlopqhrolohs2lnd2lspts3d" },
	{ 0x000C0, "k23hk7n24hn8=54kn2=14kn2=46k2n=2kn3k2n=2k2nk3n2k4nk2nk3n3k2nk2n=4k2nkn2=2" },
	{ 0x001AE, "k2nk3n=2k2n2pkn3p4kunkunkun=14kn2=16kn2kun=2k3n=56kn7k2nk2n2=2k4n=6kn69p" },
	{ 0x00295, "n27v18l4v12l14v5l7vlvl17w112=4vl=2a2vn3dka4l2kdk3akak2nk17ak9n35kn2k3n3=22" },
	{ 0x003EE, "kn5=2h=2k2n2k51n48=34ow5x2=54k2n=10kn2=96ak38a2vd6n41dia2o2eaw45iwdw2dw2dw" },
	{ 0x005C8, "a8p27a4p4d2a11r6h3d2ed2o2w11drd3p32vp10w21j10d4p2wp99dpw7row6v2w2ow4p2j10" },
	{ 0x006FA, "p3o2pd14arpwp30w27a2p89w11pa14j10p33w9v2od3va2we2p22w4vw9vw3vw5a2d15ap25w3" },
	{ 0x0085C, "a2dap11a5p24lp6ar2a6w8p41vw24rw32yp54wywpy3w8y4wy2pw7p10w2d2j10dvp15wy2ap8" },
	{ 0x0098D, "a2p2a2p22ap7apa3p4a2wpy3w4a2y2a2y2wpa8ya4p2ap3w2a2j10p2e2s6oepdwa2w2yap6a4" },
	{ 0x00A0F, "p2a2p22ap7ap2ap2ap2a2way3w2a4w2a2w3a3wa7p4apa7j10w2p3wda10w2yap9ap3ap22ap7" },
	{ 0x00AB1, "ap2ap5a2wpy3w5aw2yay2wa2pa15p2w2a2j10dea7pw6awy2ap8a2p2a2p22ap7ap2ap5a2wpy" },
	{ 0x00B3F, "wyw4a2y2a2y2wa7w2ya4p2ap3w2a2j10ops6a10wpap6a3p3ap4a3p2apap2a3p2a3p3a3p12" },
	{ 0x00BBA, "a4y2wy2a3y3ay3wa2pa6ya14j10s3o6eoa5wy3wp8ap3ap23ap16a2wpw3y4aw3aw4a7w2ap3" },
	{ 0x00C5B, "a2pa2p2w2a2j10a7ds7opwy2dp8ap3ap23ap10ap5a2wpywy5awy2ay2w2a7y2a6p2ap2w2a2" },
	{ 0x00CE6, "j10ap2ya12w2y2p9ap3ap41w2py3w4ay3ay3wpoa4p3ys7p3w2a2j10s9op6awy2ap18a3p24a" },
	{ 0x00DB3, "p9apa2p7a3wa4y3w3away8a6j10a2y2da12p48wp2w7a4ep6vw8dj10d2a37p2apap5ap24apa" },
	{ 0x00EA7, "p10wp2w9pa2p5avaw7aj10a2p4a32po3d15odo3w2o6j10s10owowowfgfgy2p8ap36a4w14y" },
	{ 0x00F80, "w5dw2p5w11aw36ao8wo6ao2d5o4d2a37p43y2w4yw6yw2y2w2pj10d6p6y2w2p4w3py3p2y7p3" },
	{ 0x01071, "w4p13wy2w2y6wpyj10y3wo2k38aka5ka2n43dvn3p329ap4a2p7apap4a2p41ap4a2p33ap4a2" },
	{ 0x012B8, "p7apap4a2p15ap57ap4a2p67a2w3d9s20a3p16o10a6k86a2n6a2ip620odp17cp26fga3p75" },
	{ 0x016EB, "d3z3p8a7p18w3ya9p19w2yd2a9p18w2a12p13ap3aw2a12p52w2yw7y8wy2w11d3vd3epwa2" },
	{ 0x017E0, "j10a6s10a6d6id4w3rwj10a6p35vp53a7p5w2p34wpa5p70a10p31aw3y4w2y3a4y2wy6w3a4o" },
	{ 0x01941, "a3d2j10p30a2p5a11p44a4p26a6j10sa3o34p23w2y2wa2d2p53ywyw7awywy2w8y6w10a2w" },
	{ 0x01A80, "j10a6j10a6d7vd6a2w14xw16a49w4yp47wyw5ywy5wy2p8a3j10d7o10w9o9d2aw2yp30yw4y2" },
	{ 0x01BA8, "w2yw3p2j10p44wyw2y3wyw3y2a8d4p36y8w8y2w2a3d5j10a3p3j10p30v6d2n9a7k43a2k3d8" },
	{ 0x01CC8, "a8w3dw13yw7p4wp6wp2yw2pa5n44v63n13vn34v37w64=148kn9=96kn9k8n6a2k6a2n8k8n8" },
	{ 0x01F38, "k8n6a2k6a2n8akakakakn8k8n14a2n8u8n8u8n8u8n5an2k4ulnl3n3an2k4ul3n4a2n2k4al3" },
	{ 0x01FE0, "n8k5l3a2n3an2k4ul2ac11r5i6d2qtfq2tfqd8ABr5cd9qtd4m2d3hfgd11hdmd10cr5ar10sv" },
	{ 0x02072, "a2s6h3fgvs10h3fgav13a3e33a15w13x4wx3w12a15o2ko4ko2nk3n2k3noko2hk5o6kokoko" },
	{ 0x0212A, "k4onk4np4no2n2k2h5kn4oho2nos16z35=2z4so2a4h5o5h2o4ho2ho2ho7ho31h2o2hoho31" },
	{ 0x021F4, "h268o8fgfgo20h2o7fgo81ho30h25o40h6o69a25o11a21s60o78s22o183ho9ho54h8o111h" },
	{ 0x02670, "o248fgfgfgfgfgfgfgs30o44h5fgh31fgfgfgfgfgh16o256h131fgfgfgfgfgfgfgfgfgfgfg" },
	{ 0x02999, "h63fgfgh32fgh258o48h21o2h6o39a2o32ao105k48n48=2k3n2=6k4nkn2kn6v2k3n=96kn2" },
	{ 0x02CE5, "o6=4w3=2a5d4sd2n38ana5na2p56a7vda14wp23a9p7ap7ap7ap7ap7ap7ap7ap7aw32d2qtqt" },
	{ 0x02E06, "d3qtdqtd9id2idqtd2qtfgfgfgfgd5vd10i2d4idfd13o2d3fgfgfgfgia34o26ao89a12o214" },
	{ 0x02FD6, "a26o12a4cd3ovpzfgfgfgfgfgo2fgfgfgfgifg2oz9w4y2iv5o2z3vpdo2ap86a2w2l2v2pi" },
	{ 0x030A1, "p90dv3pa5p43ap94ao2s4o10p32o36a12p16o31as10o30s8os15o32s10o39s15o320p6592" },
	{ 0x04DC0, "o64p21013vp1143a3o55a9p40v6d2p268vd3p16j10p2a20=46pwx3dw10dv=28v2w2p70z10" },
	{ 0x0A6F0, "w2d6a8l23v9l2=12kn3=62vn8=4k2n=8vl2=4p=2kn3=20k5nk5n=14k4n=2a5=2anan=4a24" },
	{ 0x0A7F2, "v3=2pv2np7wp3wp4wp23y2w2yo4wa3s6o2eoa6p52d4a8y2p50y16w2a8d2j10a6w18p6d3pd" },
	{ 0x0A8FD, "p2wj10p28w8d2p23w11y2a11dp29a3w3yp47wy2w4y2w2y3d13avj10a4d2p5wvp9j10p5ap41" },
	{ 0x0AA29, "w6y2w2y2w2a9p3wp8wya2j10a2d4p16vp6o3pywyp50wpw3p2w2p5w2pwpa24p2vd2p11yw2y2" },
	{ 0x0AAF0, "d2pv2ywa10p6a2p6a2p6a9p7ap7an43lv4n9vl2a4n80p35y2wy2wy2dywa2j10a6p11172a12" },
	{ 0x0D7B0, "p23a4p49a4C2048D6400p366a2p106a38n7a12n5a5pwp10hp13ap5apap2ap2ap108l17a16" },
	{ 0x0FBD3, "p363gfo16p64a2p54a7oa32p12eo3w16d7fgda6w16di2m2fgfgfgfgfgfgfgfgd2fgd4m3d3a" },
	{ 0x0FE54, "d4ifgfgfgd3hih3aded2a4p5ap135a2rad3ed3fgdhdid2j10d2h3d2k26fdglmln26fhghfgd" },
	{ 0x0FF62, "fgd2p10vp45v2p31a3p6a2p6a2p6a2p3a3e2hloe2aoh4o2a10r3o2a2p12ap26ap19ap2ap15" },
	{ 0x1004E, "a2p14a34p123a5d3a4s45a3o9z53s4o17s2o3ao13a3oa47o45wa130p29a3p49a15ws27a4" },
	{ 0x10300, "p32s4a9p20zp8za5p38w5a5p30adp36a4p8dz5a42k40n40p78a2j10a6k36a4n36a4p40a8" },
	{ 0x10530, "p52a11dk11ak15ak7ak2an11an15an7an2a67p311a9p22a10p8a24v6av42av9a69p6a2pa" },
	{ 0x1080A, "p44ap2a3pa2p23ads8p23o2s7p31a8s9a48p19ap2a5s5p22s6a3dp26a5da64p56a4s2p2s16" },
	{ 0x109D0, "a2s46pw3aw2a5w4p4ap3ap29a2w3a4ws9a7d9a7p29s2dp29s3a32p8op28w2a4s5d7a9p54a3" },
	{ 0x10B39, "d7p22a2s8p19a5s8p18a7d4a12s7a80p73a55k51a13n51a7s6p36w4a8j10a294s31ap42aw2" },
	{ 0x10EAD, "ia2p2a75w3p29s10pa8p22w11s4d5a22p18w4d4a38p21s7a20p23a9ywyp53w15d7a4s20j10" },
	{ 0x11070, "wp2w2pa9w3yp45y3w4y2w2d2rd4wa10ra2p25a7j10a6w3p36w5yw8aj10d4py2pa8p35wd2p" },
	{ 0x11177, "a9w2yp48y3w9y2p4d4w4dywj10pdpd3as20a11p18ap25y3w3y2wyw2d6wp2wa62p7apap4a" },
	{ 0x1128F, "p15ap10da6p47wy3w8a5j10a6w2y2ap8a2p2a2p22ap7ap2ap5aw2py2wy4a2y2a2y3a2pa6y" },
	{ 0x11358, "a5p5y2a2w7a3w5a139p53y3w8y2w3ywp4d5j10d2adwp3a30p48y3w6ywy4w2yw2p2dpa8j10" },
	{ 0x114DA, "a166p47y3w4a2y4w2yw2d23p4w2a34p48y3w8y2wyw2d3pa11j10a6d13a19p43wywy2w6ywpd" },
	{ 0x116BA, "a6j10a54p27a2w3y2w4yw5a4j10s2d3op7a185p44y3w9yw2da100k32n32j10s9a12p8a2pa2" },
	{ 0x1190C, "p8ap2ap24y6ay2a2w2ywpypywd3a9j10a70p8a2p39y3w4a2w2y4wpdpya27pw10p40w6ypw4" },
	{ 0x11A3F, "d8wa8pw6y2w3p46w13yw2d3pd5a13p73a7d10a246p9ap37yw7aw6ywpd5a10j10s19a3d2p30" },
	{ 0x11C90, "a2w22ayw7yw2yw2a73p7ap2ap38w6a3waw2aw7pwa8j10a6p6ap2ap32y5aw2ay2wywpa7j10" },
	{ 0x11DAA, "a310p19w2y2d2a7w2pyp13ap34y2w5a3y2wywd13j10a86pa15s21o8e4o17a13dp922a102" },
	{ 0x12400, "z111ad5a11p196a2636p97d2a13p1072r16wp6w15a4010p583a8633p569a7p31aj10a4d2" },
	{ 0x16A70, "p79aj10a6p30a2w5da10p48w7d5o4v4doa10j10as7ap21a5p19a688k32n32s23d4a101p75" },
	{ 0x16F4B, "a4wpy55a7w4v13a64v2dvwa11y2a14p6136a8p1238a42p9a8935v4av7av2ap291a15pa29p3" },
	{ 0x1B153, "a2pa14p4a8p396a2308p107a5p13a3p9a7p10a2ow2dr4a4700w46a2w23a9o116a60o246a10" },
	{ 0x1D100, "o39a2o60y2w3o3y6r8w8o2w7o30w4o61a21o66w3oa122s20a12s20a12o87a9s25a135k26" },
	{ 0x1D41A, "n26k26n7an18k26n26kak2a2ka2k2a2k4ak8n4anan7an11k26n26k2ak4a2k8ak7an26k2ak4" },
	{ 0x1D53F, "ak5aka3k7an26k26n26k26n26k26n26k26n26k26n26k26n28a2k25hn25hn6k25hn25hn6k25" },
	{ 0x1D735, "hn25hn6k25hn25hn6k25hn25hn6=2a2j50o512w55o4w50o8wo14wo2d5a15w5aw15a1104n10" },
	{ 0x1DF0A, "pn20a6n6a213w7aw17a2w7aw2aw5a5v62a33wa112p45a3w7v7a2j10a4poa320p30wa17p44" },
	{ 0x1E2EC, "w4j10a5ea464p27vw4j10a742p7ap4ap2ap15ap197a2s9w7a41k34n34w7va4j10a4d2a785" },
	{ 0x1EC71, "s59os3es4a76s45os15a194p4ap27ap2apa2pap10ap4apapa6pa4papapap3ap2apa2papapa" },
	{ 0x1EE5D, "papap2apa2p4ap7ap4ap4apap10ap17a5p3ap5ap17a52h2a270o44a4o100a12o15a2o15a" },
	{ 0x1F0C1, "o15ao37a10s13o161a56o29a13o44a4o9a7o2a14o6a154o251l5o728a4o17a3o13a3o119a4" },
	{ 0x1F77B, "o95a6o12a4oa15o12a4o56a8o10a6o40a8o30a2o2a78o340a12o14a2o13a3o9a7o46ao7a8" },
	{ 0x1FACE, "o14a4o9a7o9a7o147ao55a37j10a1030p42720a32p4154a6p222a2p5762a14p7473a3103" },
	{ 0x2F800, "p542a1506p4939a5p4192a711761ra30r96a128w240a65040D65534a2D65534a2" },
};

static const char script_names[] =
	"Common Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali "
	"Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan "
	"Myanmar Georgian Hangul Ethiopic Cherokee Canadian_Aboriginal Ogham Runic Khmer "
	"Mongolian Hiragana Katakana Bopomofo Han Yi Old_Italic Gothic Deseret Inherited "
	"Tagalog Hanunoo Buhid Tagbanwa Limbu Tai_Le Linear_B Ugaritic Shavian Osmanya "
	"Cypriot Braille Buginese Coptic New_Tai_Lue Glagolitic Tifinagh Syloti_Nagri "
	"Old_Persian Kharoshthi Balinese Cuneiform Phoenician Phags_Pa Nko Sundanese Lepcha "
	"Ol_Chiki Vai Saurashtra Kayah_Li Rejang Lycian Carian Lydian Cham Tai_Tham Tai_Viet "
	"Avestan Egyptian_Hieroglyphs Samaritan Lisu Bamum Javanese Meetei_Mayek "
	"Imperial_Aramaic Old_South_Arabian Inscriptional_Parthian Inscriptional_Pahlavi "
	"Old_Turkic Kaithi Batak Brahmi Mandaic Chakma Meroitic_Cursive Meroitic_Hieroglyphs "
	"Miao Sharada Sora_Sompeng Takri Caucasian_Albanian Bassa_Vah Duployan Elbasan "
	"Grantha Pahawh_Hmong Khojki Linear_A Mahajani Manichaean Mende_Kikakui Modi Mro "
	"Old_North_Arabian Nabataean Palmyrene Pau_Cin_Hau Old_Permic Psalter_Pahlavi Siddham "
	"Khudawadi Tirhuta Warang_Citi Ahom Anatolian_Hieroglyphs Hatran Multani "
	"Old_Hungarian SignWriting Adlam Bhaiksuki Marchen Newa Osage Tangut Masaram_Gondi "
	"Nushu Soyombo Zanabazar_Square Dogra Gunjala_Gondi Makasar Medefaidrin "
	"Hanifi_Rohingya Sogdian Old_Sogdian Elymaic Nandinagari Nyiakeng_Puachue_Hmong "
	"Wancho Chorasmian Dives_Akuru Khitan_Small_Script Yezidi Cypro_Minoan Old_Uyghur "
	"Tangsa Toto Vithkuqi Kawi Nag_Mundari ";

static const struct runs scripts[] = {
	{ 0x00000, "Aa65Ab26Aa6Ab26Aa47AbAa15AbAa5Ab23AaAb31AaAb449Aa39Ab5Aa5Bi2Aa20Bo112Ac4Aa" },
	{ 0x00375, "Ac3-2Ac4AaAc-4AcAaAcAaAc3-Ac-Ac20-Ac63Cc14Ac16Ad133Bo2Ad169-Ae38-2Ae50-2" },
	{ 0x0058D, "Ae3-Af55-8Af27-4Af6-11Ag5AaAg6AaAg14AaAg3AaAg32AaAg10Bo11Ag26BoAg108AaAg34" },
	{ 0x00700, "Ah14-Ah60-2Ah3Ag48Ai50-14Cn59-2Cn3Dd46-2Dd15-Dq28-2Dq-Ah11-5Ag31-Ag2-6Ag74" },
	{ 0x008E2, "AaAg29Aj81Bo4Aj15Aa2Aj26Ak4-Ak8-2Ak2-2Ak22-Ak7-Ak-3Ak4-2Ak9-2Ak2-2Ak4-8Ak" },
	{ 0x009D8, "-4Ak2-Ak5-2Ak25-2Al3-Al6-4Al2-2Al22-Al7-Al2-Al2-Al2-2Al-Al5-4Al2-2Al3-3Al" },
	{ 0x00A52, "-7Al4-Al-7Al17-10Am3-Am9-Am3-Am22-Am7-Am2-Am5-2Am10-Am3-Am3-2Am-15Am4-2" },
	{ 0x00AE6, "Am12-7Am7-An3-An8-2An2-2An22-An7-An2-An5-2An9-2An2-2An3-7An3-4An2-An5-2" },
	{ 0x00B66, "An18-10Ao2-Ao6-3Ao3-Ao4-3Ao2-Ao-Ao2-3Ao2-3Ao3-3Ao12-4Ao5-3Ao3-Ao4-2Ao-6Ao" },
	{ 0x00BD8, "-14Ao21-5Ap13-Ap3-Ap23-Ap16-2Ap9-Ap3-Ap4-7Ap2-Ap3-2Ap-2Ap4-2Ap10-7Ap9Aq13-" },
	{ 0x00C8E, "Aq3-Aq23-Aq10-Aq5-2Aq9-Aq3-Aq4-7Aq2-6Aq2-Aq4-2Aq10-Aq3-12Ar13-Ar3-Ar51-Ar3" },
	{ 0x00D49, "-Ar6-4Ar16-2Ar26-As3-As18-3As24-As9-As-2As7-3As-4As6-As-As8-6As10-2As3-12" },
	{ 0x00E01, "At58-4AaAt28-37Au2-Au-Au5-Au24-Au-Au23-2Au5-Au-Au7-Au10-2Au4-32Av72-Av36-4" },
	{ 0x00F71, "Av39-Av36-Av15-Av7Aa4Av2-37Aw160Ax38-Ax-5Ax-2Ax43AaAx4Ay256Az73-Az4-2Az7-" },
	{ 0x01258, "Az-Az4-2Az41-Az4-2Az33-Az4-2Az7-Az-Az4-2Az15-Az57-Az4-2Az67-2Az32-3Az26-6" },
	{ 0x013A0, "Ba86-2Ba6-2Bb640Bc29-3Bd75Aa3Bd11-7Bp22-9BpBq21Aa2-9Br20-12Bs13-Bs3-Bs2-12" },
	{ 0x01780, "Be94-2Be10-6Be10-6Bf2Aa2BfAaBf20-6Bf89-7Bf43-5Bb70-10Bt31-Bt12-4Bt12-4Bt-3" },
	{ 0x01944, "Bt12Bu30-2Bu5-11Cd44-4Cd26-6Cd11-3Cd2Be32Cb28-2Cb2Cz63-Cz29-2Cz11-6Cz10-6" },
	{ 0x01AA0, "Cz14-2Bo31-49Cj77-3Cj47-Co64Do52-8Do4Cp56-3Cp15-3Cp3Cq48Ad9-7Ax43-2Ax3Co8" },
	{ 0x01CC8, "-8Bo3AaBo13AaBo7Aa4BoAa6BoAa3Bo2Aa-5Ab38Ac5AdAb49Ac5Ab4Ac5Ab13AdAb70AcBo64" },
	{ 0x01E00, "Ab256Ac22-2Ac6-2Ac38-2Ac6-2Ac8-Ac-Ac-Ac-Ac31-2Ac53-Ac15-Ac14-2Ac6-Ac19-2" },
	{ 0x01FF2, "Ac3-Ac9-Aa12Bo2Aa87-Aa11Ab-2Aa11AbAa15-Ab13-3Aa33-15Bo33-15Aa38AcAa3Ab2Aa6" },
	{ 0x02132, "AbAa27AbAa17Ab41Aa3-4Aa663-25Aa11-21Aa928Ca256Aa628-2Aa32-Aa105Ce96Ab32" },
	{ 0x02C80, "Cc116-5Cc7Ax38-Ax-5Ax-2Cf56-7Cf2-14CfAz23-9Az7-Az7-Az7-Az7-Az7-Az7-Az7-Az7" },
	{ 0x02DDF, "-Ad32Aa94-34Bj26-Bj89-12Bj214-26Aa12-4Aa5BjAaBjAa25Bj9Bo4Ay2Aa8Bj4Aa4-Bg86" },
	{ 0x03097, "-2Bo2Aa2Bg3AaBh90Aa2Bh3-5Bi43-Ay94-Aa16Bi32Aa36-12Bh16Ay31-Aa64Ay31Aa81" },
	{ 0x032D0, "Bh47AaBh88Aa168Bj6592Aa64Bj20992Bk1165-3Bk55-9De48Cr300-20Ad96Df88-8Aa34" },
	{ 0x0A722, "Ab102Aa3Ab64-5Ab2-Ab-Ab5-24Ab14Cg45-3Aa10-6Cm56-8Cs70-8Cs12-6Aj32Ct46AaCt" },
	{ 0x0A930, "Cu36-11CuAy29-3Dg78-AaDg10-4Dg2Aw31-Cy55-9Cy14-2Cy10-2Cy4Aw32Da67-24Da5" },
	{ 0x0AAE0, "Dh23-10Az6-2Az6-2Az6-9Az7-Az7-Ab43AaAb9AcAb4Aa2-4Ba80Dh46-2Dh10-6Ay11172" },
	{ 0x0D7A4, "-12Ay23-4Ay49-8452Bj366-2Bj106-38Ab7-12Ae5-5Af26-Af5-Af-Af2-Af2-Af10Ag115" },
	{ 0x0FBC3, "-16Ag363Aa2Ag80-2Ag54-7Ag-32Ag16Bo16Aa10-6Bo14Ad2Aa35-Aa19-Aa4-4Ag5-Ag135" },
	{ 0x0FEFD, "-2Aa-Aa32Ab26Aa6Ab26Aa11Bh10AaBh45Aa2Ay31-3Ay6-2Ay6-2Ay6-2Ay3-3Aa7-Aa7-10" },
	{ 0x0FFF9, "Aa5-2Bv12-Bv26-Bv19-Bv2-Bv15-2Bv14-34Bv123-5Aa3-4Aa45-3Aa9Ac79-Aa13-3Ac-47" },
	{ 0x101D0, "Aa45Bo-130Cv29-3Cw49-15BoAa27-4Bl36-9Bl3Bm27-5Ep43-5Bw30-BwCh36-4Ch14-42" },
	{ 0x10400, "Bn80Bx48By30-2By10-6Ff36-4Ff36-4Eb40-8Dy52-11DyGe11-Ge15-Ge7-Ge2-Ge11-Ge15" },
	{ 0x105B2, "-Ge7-Ge2-67Ef311-9Ef22-10Ef8-24Ab6-Ab42-Ab9-69Bz6-2Bz-Bz44-Bz2-3Bz-2BzDi22" },
	{ 0x10856, "-Di9En32Em31-8Em9-48Ex19-Ex2-5Ex5Cl28-3ClCx26-5Cx-64Dt32Ds24-4Ds20-2Ds46" },
	{ 0x10A00, "Ci4-Ci2-5Ci8-Ci3-Ci29-2Ci3-4Ci10-7Ci9-7Dj32El32-32Eh39-4Eh12-9Db54-3Db7" },
	{ 0x10B40, "Dk22-2Dk8Dl19-5Dl8Eq18-7Eq4-12Eq7-80Dm73-55Ez51-13Ez51-7Ez6Fp40-8Fp10-294" },
	{ 0x10E60, "Ag31-Fz42-Fz3-2Fz2-75Ag3Fr40-8Fq42-22Gb26-38Fw28-20Fs23-9Dp78-4Dp36-9Dp" },
	{ 0x11080, "Dn67-10Dn-2Dw25-7Dw10-6Dr53-Dr18-8Eg39-9Dv96-As20-11Ee18-Ee47-62Ey7-Ey-Ey4" },
	{ 0x1128E, "-Ey15-Ey11-6Es59-5Es10-6Ec4-Ec8-2Ec2-2Ec22-Ec7-Ec2-Ec5-BoEc9-2Ec2-2Ec3-2Ec" },
	{ 0x11351, "-6Ec-5Ec7-2Ec7-3Ec5-139Fe92-Fe5-30Et72-8Et10-166Er54-2Er38-34Ej69-11Ej10-6" },
	{ 0x11660, "Bf13-19Dx58-6Dx10-54Ev27-2Ev15-4Ev23-185Fl60-100Eu83-12EuFx7-2Fx-2Fx8-Fx2-" },
	{ 0x11918, "Fx30-Fx2-2Fx12-9Fx10-70Ft8-2Ft46-2Ft11-27Fk72-8Fj83-13Bb16Eo57-7Aj10-246" },
	{ 0x11C00, "Fc9-Fc45-Fc14-10Fc29-3Fd32-2Fd22-Fd14-73Fh7-Fh2-Fh44-3Fh-Fh2-Fh9-8Fh10-6" },
	{ 0x11D60, "Fm6-Fm2-Fm37-Fm2-Fm6-7Fm10-310Fn25-7Gf17-Gf41-3Gf28-86De-15Ao50-13AoCk922" },
	{ 0x1239A, "-102Ck111-Ck5-11Ck196-2636Ga99-13Dc1110-4010Ew583-8633Df569-7Ek31-Ek10-4" },
	{ 0x16A6E, "Ek2Gc79-Gc10-6Dz30-2Dz6-10Ed70-10Ed10-Ed7-Ed21-5Ed19-688Fo91-101Du75-4Du57" },
	{ 0x16F88, "-7Du17-64FgFiBj2Fy-11Bj2-14Fg6136-8Fg768Fy470-42Fg9-8935Bh4-Bh7-Bh2-Bh" },
	{ 0x1B001, "Bg287Bh3-15Bg-29Bg3-2Bh-14Bh4-8Fi396-2308Ea107-5Ea13-3Ea9-7Ea10-2Ea4Aa4" },
	{ 0x1BCA4, "-4700Bo46-2Bo23-9Aa116-60Aa246-10Aa39-2Aa62Bo3Aa17Bo8Aa2Bo7Aa30Bo4Aa61-21" },
	{ 0x1D200, "Ac70-122Aa20-12Aa20-12Aa87-9Aa25-135Aa85-Aa71-Aa2-2Aa-2Aa2-2Aa4-Aa12-Aa-" },
	{ 0x1D4BD, "Aa7-Aa65-Aa4-2Aa8-Aa7-Aa28-Aa4-Aa5-Aa-3Aa7-Aa340-2Aa292-2Aa50Fa652-15Fa5-" },
	{ 0x1DAA1, "Fa15-1104Ab31-6Ab6-213Ce7-Ce17-2Ce7-Ce2-Ce5-5Ad62-33Ad-112Fu45-3Fu14-2Fu10" },
	{ 0x1E14A, "-4Fu2-320Gd31-17Fv58-5Fv-464Gg42-742Az7-Az4-Az2-Az15-Ei197-2Ei16-41Fb76-4" },
	{ 0x1E950, "Fb10-4Fb2-785Aa68-76Aa61-194Ag4-Ag27-Ag2-Ag-2Ag-Ag10-Ag4-Ag-Ag-6Ag-4Ag-Ag-" },
	{ 0x1EE4B, "Ag-Ag3-Ag2-Ag-2Ag-Ag-Ag-Ag-Ag-Ag2-Ag-2Ag4-Ag7-Ag4-Ag4-Ag-Ag10-Ag17-5Ag3-" },
	{ 0x1EEA5, "Ag5-Ag17-52Ag2-270Aa44-4Aa100-12Aa15-2Aa15-Aa15-Aa37-10Aa174-56Aa26BgAa2" },
	{ 0x1F203, "-13Aa44-4Aa9-7Aa2-14Aa6-154Aa984-4Aa17-3Aa13-3Aa119-4Aa95-6Aa12-4Aa-15Aa12" },
	{ 0x1F80C, "-4Aa56-8Aa10-6Aa40-8Aa30-2Aa2-78Aa340-12Aa14-2Aa13-3Aa9-7Aa46-Aa7-8Aa14-4" },
	{ 0x1FAE0, "Aa9-7Aa9-7Aa147-Aa55-37Aa10-1030Bj42720-32Bj4154-6Bj222-2Bj5762-14Bj7473" },
	{ 0x2EBE1, "-3103Bj542-1506Bj4939-5Bj4192-711761Aa-30Aa96-128Bo240-196112" },
};

static const struct case_row case_rows[] = {
	{0xB5,1,0,743}, {0xC0,23,32,0}, {0xD8,7,32,0}, {0xDF,1,0,0}, {0xE0,23,0,-32},
	{0xF8,7,0,-32}, {0xFF,1,0,121}, {0x100,48,P,0}, {0x130,1,-199,0}, {0x131,1,0,-232},
	{0x132,6,P,0}, {0x139,16,P,0}, {0x14A,46,P,0}, {0x178,1,-121,0}, {0x179,6,P,0},
	{0x17F,1,0,-300}, {0x180,1,0,195}, {0x181,1,210,0}, {0x182,4,P,0}, {0x186,1,206,0},
	{0x187,2,P,0}, {0x189,2,205,0}, {0x18B,2,P,0}, {0x18E,1,79,0}, {0x18F,1,202,0},
	{0x190,1,203,0}, {0x191,2,P,0}, {0x193,1,205,0}, {0x194,1,207,0}, {0x195,1,0,97},
	{0x196,1,211,0}, {0x197,1,209,0}, {0x198,2,P,0}, {0x19A,1,0,163}, {0x19C,1,211,0},
	{0x19D,1,213,0}, {0x19E,1,0,130}, {0x19F,1,214,0}, {0x1A0,6,P,0}, {0x1A6,1,218,0},
	{0x1A7,2,P,0}, {0x1A9,1,218,0}, {0x1AC,2,P,0}, {0x1AE,1,218,0}, {0x1AF,2,P,0},
	{0x1B1,2,217,0}, {0x1B3,4,P,0}, {0x1B7,1,219,0}, {0x1B8,2,P,0}, {0x1BC,2,P,0},
	{0x1BF,1,0,56}, {0x1C4,1,2,0}, {0x1C5,1,1,-1}, {0x1C6,1,0,-2}, {0x1C7,1,2,0},
	{0x1C8,1,1,-1}, {0x1C9,1,0,-2}, {0x1CA,1,2,0}, {0x1CB,1,1,-1}, {0x1CC,1,0,-2},
	{0x1CD,16,P,0}, {0x1DD,1,0,-79}, {0x1DE,18,P,0}, {0x1F1,1,2,0}, {0x1F2,1,1,-1},
	{0x1F3,1,0,-2}, {0x1F4,2,P,0}, {0x1F6,1,-97,0}, {0x1F7,1,-56,0}, {0x1F8,40,P,0},
	{0x220,1,-130,0}, {0x222,18,P,0}, {0x23A,1,10795,0}, {0x23B,2,P,0}, {0x23D,1,-163,0},
	{0x23E,1,10792,0}, {0x23F,2,0,10815}, {0x241,2,P,0}, {0x243,1,-195,0}, {0x244,1,69,0},
	{0x245,1,71,0}, {0x246,10,P,0}, {0x250,1,0,10783}, {0x251,1,0,10780}, {0x252,1,0,10782},
	{0x253,1,0,-210}, {0x254,1,0,-206}, {0x256,2,0,-205}, {0x259,1,0,-202}, {0x25B,1,0,-203},
	{0x25C,1,0,42319}, {0x260,1,0,-205}, {0x261,1,0,42315}, {0x263,1,0,-207}, {0x265,1,0,42280},
	{0x266,1,0,42308}, {0x268,1,0,-209}, {0x269,1,0,-211}, {0x26A,1,0,42308}, {0x26B,1,0,10743},
	{0x26C,1,0,42305}, {0x26F,1,0,-211}, {0x271,1,0,10749}, {0x272,1,0,-213}, {0x275,1,0,-214},
	{0x27D,1,0,10727}, {0x280,1,0,-218}, {0x282,1,0,42307}, {0x283,1,0,-218}, {0x287,1,0,42282},
	{0x288,1,0,-218}, {0x289,1,0,-69}, {0x28A,2,0,-217}, {0x28C,1,0,-71}, {0x292,1,0,-219},
	{0x29D,1,0,42261}, {0x29E,1,0,42258}, {0x345,1,0,84}, {0x370,4,P,0}, {0x376,2,P,0},
	{0x37B,3,0,130}, {0x37F,1,116,0}, {0x386,1,38,0}, {0x388,3,37,0}, {0x38C,1,64,0},
	{0x38E,2,63,0}, {0x391,17,32,0}, {0x3A3,9,32,0}, {0x3AC,1,0,-38}, {0x3AD,3,0,-37},
	{0x3B1,17,0,-32}, {0x3C2,1,0,-31}, {0x3C3,9,0,-32}, {0x3CC,1,0,-64}, {0x3CD,2,0,-63},
	{0x3CF,1,8,0}, {0x3D0,1,0,-62}, {0x3D1,1,0,-57}, {0x3D5,1,0,-47}, {0x3D6,1,0,-54},
	{0x3D7,1,0,-8}, {0x3D8,24,P,0}, {0x3F0,1,0,-86}, {0x3F1,1,0,-80}, {0x3F2,1,0,7},
	{0x3F3,1,0,-116}, {0x3F4,1,-60,0}, {0x3F5,1,0,-96}, {0x3F7,2,P,0}, {0x3F9,1,-7,0},
	{0x3FA,2,P,0}, {0x3FD,3,-130,0}, {0x400,16,80,0}, {0x410,32,32,0}, {0x430,32,0,-32},
	{0x450,16,0,-80}, {0x460,34,P,0}, {0x48A,54,P,0}, {0x4C0,1,15,0}, {0x4C1,14,P,0},
	{0x4CF,1,0,-15}, {0x4D0,96,P,0}, {0x531,38,48,0}, {0x561,38,0,-48}, {0x10A0,38,7264,0},
	{0x10C7,1,7264,0}, {0x10CD,1,7264,0}, {0x10D0,43,0,3008}, {0x10FD,3,0,3008},
	{0x13A0,80,38864,0}, {0x13F0,6,8,0}, {0x13F8,6,0,-8}, {0x1C80,1,0,-6254},
	{0x1C81,1,0,-6253}, {0x1C82,1,0,-6244}, {0x1C83,2,0,-6242}, {0x1C85,1,0,-6243},
	{0x1C86,1,0,-6236}, {0x1C87,1,0,-6181}, {0x1C88,1,0,35266}, {0x1C90,43,-3008,0},
	{0x1CBD,3,-3008,0}, {0x1D79,1,0,35332}, {0x1D7D,1,0,3814}, {0x1D8E,1,0,35384},
	{0x1E00,150,P,0}, {0x1E9B,1,0,-59}, {0x1E9E,1,-7615,0}, {0x1EA0,96,P,0}, {0x1F00,8,0,8},
	{0x1F08,8,-8,0}, {0x1F10,6,0,8}, {0x1F18,6,-8,0}, {0x1F20,8,0,8}, {0x1F28,8,-8,0},
	{0x1F30,8,0,8}, {0x1F38,8,-8,0}, {0x1F40,6,0,8}, {0x1F48,6,-8,0}, {0x1F51,1,0,8},
	{0x1F53,1,0,8}, {0x1F55,1,0,8}, {0x1F57,1,0,8}, {0x1F59,1,-8,0}, {0x1F5B,1,-8,0},
	{0x1F5D,1,-8,0}, {0x1F5F,1,-8,0}, {0x1F60,8,0,8}, {0x1F68,8,-8,0}, {0x1F70,2,0,74},
	{0x1F72,4,0,86}, {0x1F76,2,0,100}, {0x1F78,2,0,128}, {0x1F7A,2,0,112}, {0x1F7C,2,0,126},
	{0x1F80,8,0,8}, {0x1F88,8,-8,0}, {0x1F90,8,0,8}, {0x1F98,8,-8,0}, {0x1FA0,8,0,8},
	{0x1FA8,8,-8,0}, {0x1FB0,2,0,8}, {0x1FB3,1,0,9}, {0x1FB8,2,-8,0}, {0x1FBA,2,-74,0},
	{0x1FBC,1,-9,0}, {0x1FBE,1,0,-7205}, {0x1FC3,1,0,9}, {0x1FC8,4,-86,0}, {0x1FCC,1,-9,0},
	{0x1FD0,2,0,8}, {0x1FD8,2,-8,0}, {0x1FDA,2,-100,0}, {0x1FE0,2,0,8}, {0x1FE5,1,0,7},
	{0x1FE8,2,-8,0}, {0x1FEA,2,-112,0}, {0x1FEC,1,-7,0}, {0x1FF3,1,0,9}, {0x1FF8,2,-128,0},
	{0x1FFA,2,-126,0}, {0x1FFC,1,-9,0}, {0x2126,1,-7517,0}, {0x212A,1,-8383,0},
	{0x212B,1,-8262,0}, {0x2132,1,28,0}, {0x214E,1,0,-28}, {0x2160,16,16,0}, {0x2170,16,0,-16},
	{0x2183,2,P,0}, {0x24B6,26,26,0}, {0x24D0,26,0,-26}, {0x2C00,48,48,0}, {0x2C30,48,0,-48},
	{0x2C60,2,P,0}, {0x2C62,1,-10743,0}, {0x2C63,1,-3814,0}, {0x2C64,1,-10727,0},
	{0x2C65,1,0,-10795}, {0x2C66,1,0,-10792}, {0x2C67,6,P,0}, {0x2C6D,1,-10780,0},
	{0x2C6E,1,-10749,0}, {0x2C6F,1,-10783,0}, {0x2C70,1,-10782,0}, {0x2C72,2,P,0},
	{0x2C75,2,P,0}, {0x2C7E,2,-10815,0}, {0x2C80,100,P,0}, {0x2CEB,4,P,0}, {0x2CF2,2,P,0},
	{0x2D00,38,0,-7264}, {0x2D27,1,0,-7264}, {0x2D2D,1,0,-7264}, {0xA640,46,P,0},
	{0xA680,28,P,0}, {0xA722,14,P,0}, {0xA732,62,P,0}, {0xA779,4,P,0}, {0xA77D,1,-35332,0},
	{0xA77E,10,P,0}, {0xA78B,2,P,0}, {0xA78D,1,-42280,0}, {0xA790,4,P,0}, {0xA794,1,0,48},
	{0xA796,20,P,0}, {0xA7AA,1,-42308,0}, {0xA7AB,1,-42319,0}, {0xA7AC,1,-42315,0},
	{0xA7AD,1,-42305,0}, {0xA7AE,1,-42308,0}, {0xA7B0,1,-42258,0}, {0xA7B1,1,-42282,0},
	{0xA7B2,1,-42261,0}, {0xA7B3,1,928,0}, {0xA7B4,16,P,0}, {0xA7C4,1,-48,0},
	{0xA7C5,1,-42307,0}, {0xA7C6,1,-35384,0}, {0xA7C7,4,P,0}, {0xA7D0,2,P,0}, {0xA7D6,4,P,0},
	{0xA7F5,2,P,0}, {0xAB53,1,0,-928}, {0xAB70,80,0,-38864}, {0xFF21,26,32,0},
	{0xFF41,26,0,-32}, {0x10400,40,40,0}, {0x10428,40,0,-40}, {0x104B0,36,40,0},
	{0x104D8,36,0,-40}, {0x10570,11,39,0}, {0x1057C,15,39,0}, {0x1058C,7,39,0},
	{0x10594,2,39,0}, {0x10597,11,0,-39}, {0x105A3,15,0,-39}, {0x105B3,7,0,-39},
	{0x105BB,2,0,-39}, {0x10C80,51,64,0}, {0x10CC0,51,0,-64}, {0x118A0,32,32,0},
	{0x118C0,32,0,-32}, {0x16E40,32,32,0}, {0x16E60,32,0,-32}, {0x1E900,34,34,0},
	{0x1E922,34,0,-34},
};

static const struct orbit orbits[] = {
	{0x4B,0x6B}, {0x53,0x73}, {0x6B,0x212A}, {0x73,0x17F}, {0xB5,0x39C}, {0xC5,0xE5},
	{0xDF,0x1E9E}, {0xE5,0x212B}, {0x130,0x130}, {0x131,0x131}, {0x17F,0x53}, {0x1C4,0x1C5},
	{0x1C5,0x1C6}, {0x1C6,0x1C4}, {0x1C7,0x1C8}, {0x1C8,0x1C9}, {0x1C9,0x1C7}, {0x1CA,0x1CB},
	{0x1CB,0x1CC}, {0x1CC,0x1CA}, {0x1F1,0x1F2}, {0x1F2,0x1F3}, {0x1F3,0x1F1}, {0x345,0x399},
	{0x392,0x3B2}, {0x395,0x3B5}, {0x398,0x3B8}, {0x399,0x3B9}, {0x39A,0x3BA}, {0x39C,0x3BC},
	{0x3A0,0x3C0}, {0x3A1,0x3C1}, {0x3A3,0x3C2}, {0x3A6,0x3C6}, {0x3A9,0x3C9}, {0x3B2,0x3D0},
	{0x3B5,0x3F5}, {0x3B8,0x3D1}, {0x3B9,0x1FBE}, {0x3BA,0x3F0}, {0x3BC,0xB5}, {0x3C0,0x3D6},
	{0x3C1,0x3F1}, {0x3C2,0x3C3}, {0x3C3,0x3A3}, {0x3C6,0x3D5}, {0x3C9,0x2126}, {0x3D0,0x392},
	{0x3D1,0x3F4}, {0x3D5,0x3A6}, {0x3D6,0x3A0}, {0x3F0,0x39A}, {0x3F1,0x3A1}, {0x3F4,0x398},
	{0x3F5,0x395}, {0x412,0x432}, {0x414,0x434}, {0x41E,0x43E}, {0x421,0x441}, {0x422,0x442},
	{0x42A,0x44A}, {0x432,0x1C80}, {0x434,0x1C81}, {0x43E,0x1C82}, {0x441,0x1C83},
	{0x442,0x1C84}, {0x44A,0x1C86}, {0x462,0x463}, {0x463,0x1C87}, {0x1C80,0x412},
	{0x1C81,0x414}, {0x1C82,0x41E}, {0x1C83,0x421}, {0x1C84,0x1C85}, {0x1C85,0x422},
	{0x1C86,0x42A}, {0x1C87,0x462}, {0x1C88,0xA64A}, {0x1E60,0x1E61}, {0x1E61,0x1E9B},
	{0x1E9B,0x1E60}, {0x1E9E,0xDF}, {0x1FBE,0x345}, {0x2126,0x3A9}, {0x212A,0x4B},
	{0x212B,0xC5}, {0xA64A,0xA64B}, {0xA64B,0x1C88},
};

static const struct range changed[] = {
	{0x61D,0x61D}, {0x870,0x88E}, {0x890,0x891}, {0x898,0x89F}, {0x8B5,0x8B5}, {0x8C8,0x8D2},
	{0xC3C,0xC3C}, {0xC5D,0xC5D}, {0xCDD,0xCDD}, {0xCF3,0xCF3}, {0xECE,0xECE}, {0x170D,0x170D},
	{0x1715,0x1715}, {0x171F,0x171F}, {0x1734,0x1734}, {0x180F,0x180F}, {0x1AC1,0x1ACE},
	{0x1B4C,0x1B4C}, {0x1B7D,0x1B7E}, {0x1DFA,0x1DFA}, {0x20C0,0x20C0}, {0x2C2F,0x2C2F},
	{0x2C5F,0x2C5F}, {0x2E53,0x2E5D}, {0x2FFC,0x2FFF}, {0x31EF,0x31EF}, {0x9FFD,0x9FFF},
	{0xA7C0,0xA7C1}, {0xA7D0,0xA7D1}, {0xA7D3,0xA7D3}, {0xA7D5,0xA7D9}, {0xA7F2,0xA7F4},
	{0xFBC2,0xFBC2}, {0xFD40,0xFD4F}, {0xFDCF,0xFDCF}, {0xFDFE,0xFDFF}, {0x10570,0x1057A},
	{0x1057C,0x1058A}, {0x1058C,0x10592}, {0x10594,0x10595}, {0x10597,0x105A1},
	{0x105A3,0x105B1}, {0x105B3,0x105B9}, {0x105BB,0x105BC}, {0x10780,0x10785},
	{0x10787,0x107B0}, {0x107B2,0x107BA}, {0x10EFD,0x10EFF}, {0x10F70,0x10F89},
	{0x11070,0x11075}, {0x110C2,0x110C2}, {0x1123F,0x11241}, {0x116B9,0x116B9},
	{0x11740,0x11746}, {0x11AB0,0x11ABF}, {0x11B00,0x11B09}, {0x11F00,0x11F10},
	{0x11F12,0x11F3A}, {0x11F3E,0x11F59}, {0x12F90,0x12FF2}, {0x1342F,0x1342F},
	{0x13439,0x13455}, {0x16A70,0x16ABE}, {0x16AC0,0x16AC9}, {0x1AFF0,0x1AFF3},
	{0x1AFF5,0x1AFFB}, {0x1AFFD,0x1AFFE}, {0x1B11F,0x1B122}, {0x1B132,0x1B132},
	{0x1B155,0x1B155}, {0x1CF00,0x1CF2D}, {0x1CF30,0x1CF46}, {0x1CF50,0x1CFC3},
	{0x1D1E9,0x1D1EA}, {0x1D2C0,0x1D2D3}, {0x1DF00,0x1DF1E}, {0x1DF25,0x1DF2A},
	{0x1E030,0x1E06D}, {0x1E08F,0x1E08F}, {0x1E290,0x1E2AE}, {0x1E4D0,0x1E4F9},
	{0x1E7E0,0x1E7E6}, {0x1E7E8,0x1E7EB}, {0x1E7ED,0x1E7EE}, {0x1E7F0,0x1E7FE},
	{0x1F6DC,0x1F6DF}, {0x1F774,0x1F776}, {0x1F77B,0x1F77F}, {0x1F7D9,0x1F7D9},
	{0x1F7F0,0x1F7F0}, {0x1F979,0x1F979}, {0x1F9CC,0x1F9CC}, {0x1FA75,0x1FA77},
	{0x1FA7B,0x1FA7C}, {0x1FA87,0x1FA88}, {0x1FAA9,0x1FAAF}, {0x1FAB7,0x1FABD},
	{0x1FABF,0x1FABF}, {0x1FAC3,0x1FAC5}, {0x1FACE,0x1FACF}, {0x1FAD7,0x1FADB},
	{0x1FAE0,0x1FAE8}, {0x1FAF0,0x1FAF8}, {0x2A6DE,0x2A6DF}, {0x2B735,0x2B739},
	{0x2EBF0,0x2EE5D}, {0x31350,0x323AF},
};
/* End of generated tables. */

/* Sorted rows. */

/* For search_first(): finds the first row that begins after the rune. */
static int
after_rune(const void *rune, const void *row)
{
	return *(const uint32_t *)row <= *(const uint32_t *)rune ? 1 : -1;
}

/* The number of rows whose first member, a uint32_t, is at most c. */
static size_t
rows_up_to(const void *rows, size_t n, size_t size, uint32_t c)
{
	return search_first(&c, rows, n, size, after_rune);
}
#define ROWS_UP_TO(rows, c) \
	rows_up_to((rows), COUNTOF(rows), sizeof((rows)[0]), (c))

bool
unicode_changed(uint32_t c)
{
	size_t i = ROWS_UP_TO(changed, c);

	return i > 0 && c <= changed[i - 1].hi;
}

/* Categories and scripts. */

struct run {
	uint32_t lo, hi;
	unsigned kind;		/* number of the category or script, from 0 */
	bool pairs;		/* Lu and Ll alternate; kind is not set */
};

enum { NO_KIND = 999 };

/* Reads the run at p, which begins at r->hi + 1; returns the next one. */
static const char *
read_run(const char *p, bool script, struct run *r)
{
	uint32_t n;

	r->lo = r->hi + 1;
	r->pairs = *p == '=';
	if (*p == '=' || *p == '-')
		r->kind = NO_KIND;
	else if (script) {
		r->kind = (unsigned)(p[0] - 'A') * 26 + (unsigned)(p[1] - 'a');
		p++;
	} else
		r->kind = *p >= 'a' ? (unsigned)(*p - 'a') :
		    (unsigned)(*p - 'A') + 26;
	p++;
	if (*p > '9' || *p < '0') {
		r->hi = r->lo;
		return p;
	}
	for (n = 0; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (uint32_t)(*p - '0');
	r->hi = r->lo + n - 1;
	return p;
}

const char *
unicode_category(uint32_t c)
{
	const struct runs *row;
	const char *p;
	struct run r;

	if (c > 0x10FFFF)
		return "Cn";
	row = &categories[ROWS_UP_TO(categories, c) - 1];
	p = row->text;
	r.hi = row->first - 1;
	do
		p = read_run(p, false, &r);
	while (r.hi < c);
	if (r.pairs)
		return (c - r.lo) % 2 == 0 ? "Lu" : "Ll";
	return &category_names[r.kind * 3];
}

uint32_t
unicode_class(struct str name)
{
	const char *p, *end;
	uint32_t mask = 0, k;

	for (k = 1, p = category_names + 3; *p != '\0'; k++, p += 3)
		if (name.n >= 1 && name.n <= 2 && p[0] == name.p[0] &&
		    (name.n == 1 || p[1] == name.p[1]))
			mask |= UINT32_C(1) << k;
	if (mask != 0)
		return mask;
	for (k = 0, p = script_names; *p != '\0'; k++, p = end + 1) {
		end = strchr(p, ' ');
		if (str_eq(name, (struct str){ p, (size_t)(end - p) }))
			return SCRIPT | k;
	}
	return 0;
}

/* Reports a run in which upper and lower case alternate. */
static void
each_pair(const struct run *r, bool upper, bool lower, unicode_add *add,
    void *ctx)
{
	uint32_t c;

	if (upper && lower)
		add(ctx, r->lo, r->hi);
	else if (upper || lower)
		for (c = r->lo + lower; c <= r->hi; c += 2)
			add(ctx, c, c);
}

void
unicode_each(uint32_t class, unicode_add *add, void *ctx)
{
	bool script = (class & SCRIPT) != 0, upper, lower;
	const struct runs *rows = script ? scripts : categories;
	size_t n = script ? COUNTOF(scripts) : COUNTOF(categories), i;
	const char *p;
	struct run r;

	upper = !script && (unicode_class(STR("Lu")) & class) != 0;
	lower = !script && (unicode_class(STR("Ll")) & class) != 0;
	for (i = 0; i < n; i++)
		for (p = rows[i].text, r.hi = rows[i].first - 1; *p != '\0';) {
			p = read_run(p, script, &r);
			if (r.pairs)
				each_pair(&r, upper, lower, add, ctx);
			else if (script ? r.kind == (class & ~SCRIPT) :
			    (class >> r.kind & 1) != 0)
				add(ctx, r.lo, r.hi);
		}
}

/* Case. */

static const struct case_row *
case_row(uint32_t c)
{
	size_t i = ROWS_UP_TO(case_rows, c);

	return i > 0 && c - case_rows[i - 1].lo < case_rows[i - 1].n ?
	    &case_rows[i - 1] : NULL;
}

static uint32_t
moved(uint32_t c, int32_t step)
{
	return (uint32_t)((int32_t)c + step);
}

static uint32_t
row_lower(const struct case_row *r, uint32_t c)
{
	return r->lower == P ? c + ((c - r->lo) % 2 == 0) : moved(c, r->lower);
}

static uint32_t
row_upper(const struct case_row *r, uint32_t c)
{
	return r->lower == P ? c - (c - r->lo) % 2 : moved(c, r->upper);
}

uint32_t
unicode_lower(uint32_t c)
{
	const struct case_row *r;

	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 0x20 : c;
	r = case_row(c);
	return r == NULL ? c : row_lower(r, c);
}

uint32_t
unicode_upper(uint32_t c)
{
	const struct case_row *r;

	if (c < 0x80)
		return c >= 'a' && c <= 'z' ? c - 0x20 : c;
	r = case_row(c);
	return r == NULL ? c : row_upper(r, c);
}

/* The listed step from c, or NULL if the case mappings lead around. */
static const struct orbit *
orbit_of(uint32_t c)
{
	size_t i = ROWS_UP_TO(orbits, c);

	return i > 0 && orbits[i - 1].from == c ? &orbits[i - 1] : NULL;
}

uint32_t
unicode_fold_next(uint32_t c)
{
	const struct case_row *r;
	const struct orbit *o;
	uint32_t lower;

	if (c < 0x80) {
		if ((c | 0x20) < 'a' || (c | 0x20) > 'z')
			return c;
		return c == 'k' ? 0x212A : c == 's' ? 0x17F : c ^ 0x20;
	}
	r = case_row(c);
	if (r == NULL)
		return c;
	o = orbit_of(c);
	if (o != NULL)
		return o->to;
	lower = row_lower(r, c);
	return lower != c ? lower : row_upper(r, c);
}

uint32_t
unicode_fold_min(uint32_t c)
{
	const struct case_row *r;
	const struct orbit *o;
	uint32_t min = c, other;

	if (c < 0x80)
		return unicode_upper(c);
	r = case_row(c);
	if (r == NULL)
		return c;
	o = orbit_of(c);
	if (o == NULL) {
		other = row_lower(r, c);
		other = other != c ? other : row_upper(r, c);
		return other < c ? other : c;
	}
	for (other = o->to; other != c; other = unicode_fold_next(other))
		if (other < min)
			min = other;
	return min;
}

/* Reports the images of the part of [lo, hi] that is in the row. */
static void
fold_row(const struct case_row *r, uint32_t lo, uint32_t hi, unicode_add *add,
    void *ctx)
{
	uint32_t last = r->lo + r->n - 1;
	uint32_t a = lo > r->lo ? lo : r->lo, b = hi < last ? hi : last;

	if (a > b || r->lo == 0x130 || r->lo == 0x131)
		return;		/* dotted and dotless i match only themselves */
	if (r->lower == P) {
		add(ctx, a - (a - r->lo) % 2, b + (last - b) % 2);
		return;
	}
	if (r->lower != 0)
		add(ctx, moved(a, r->lower), moved(b, r->lower));
	if (r->upper != 0)
		add(ctx, moved(a, r->upper), moved(b, r->upper));
}

void
unicode_fold_range(uint32_t lo, uint32_t hi, unicode_add *add, void *ctx)
{
	static const struct case_row ascii[] = {
		{ 'A', 26, 0x20, 0 }, { 'a', 26, 0, -0x20 }
	};
	uint32_t next;
	size_t i;

	for (i = 0; i < COUNTOF(ascii) && lo < 0x80; i++)
		fold_row(&ascii[i], lo, hi, add, ctx);
	i = ROWS_UP_TO(case_rows, lo);
	for (i = i > 0 ? i - 1 : 0; i < COUNTOF(case_rows) &&
	    case_rows[i].lo <= hi; i++)
		fold_row(&case_rows[i], lo, hi, add, ctx);
	i = lo == 0 ? 0 : ROWS_UP_TO(orbits, lo - 1);
	for (; i < COUNTOF(orbits) && orbits[i].from <= hi; i++)
		for (next = orbits[i].to; next != orbits[i].from;
		    next = unicode_fold_next(next))
			add(ctx, next, next);
}

/* Texts. */

/*
 * Eight bytes at a time: sums whose carries stay within their byte set the
 * top bit of each byte from the first letter on, and of each past the last.
 */
size_t
unicode_ascii_case(char *out, const char *p, size_t n, bool upper)
{
	const uint64_t ones = UINT64_MAX / 0xFF, tops = ones * 0x80;
	const unsigned first = upper ? 'a' : 'A', last = first + 25;
	uint64_t w, from, past;
	size_t i;
	unsigned char c;

	for (i = 0; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		if (w & tops)
			break;
		from = w + ones * (0x80 - first);
		past = w + ones * (0x7F - last);
		w ^= ((from ^ past) & tops) >> 2;
		memcpy(out + i, &w, sizeof(w));
	}
	for (; i < n; i++) {
		c = (unsigned char)p[i];
		if (c >= 0x80)
			break;
		out[i] = (char)(c >= first && c <= last ? c ^ 0x20 : c);
	}
	return i;
}

void
unicode_put_lower(struct buf *b, struct str s)
{
	enum { STEP = 4096, GROWTH = 3 };	/* a bad byte becomes three */
	const char *p = s.p, *end = s.p + s.n, *stop;
	uint32_t c;
	size_t n;
	char *out;

	while (p < end) {
		stop = end - p < STEP ? end : p + STEP;
		out = buf_room(b, (size_t)(stop - p) * GROWTH + 4);
		if (out == NULL)
			return;
		while (p < stop) {
			n = unicode_ascii_case(out, p, (size_t)(stop - p),
			    false);
			p += n;
			out += n;
			if (p == stop)
				break;
			n = utf8_get(p, end, &c);
			out += utf8_put(out, n == 0 ? 0xFFFD :
			    unicode_lower(c));
			p += n == 0 ? 1 : n;
		}
		b->n = (size_t)(out - b->p);
	}
}
